internal import PeripheralCore

extension DeclarationValidation {
    /// Examines advertisements that replace the declared ones.
    init(of advertisements: [Advertisement], for peripheral: Peripheral) {
        self.init()
        examine(advertisements, of: peripheral)
    }

    /// - Parameters:
    ///   - advertisements: The advertisements, with their names and services filled in.
    ///   - peripheral: The peripheral that the advertisements belong to.
    mutating func examine(_ advertisements: [Advertisement], of peripheral: Peripheral) {
        examinePurpose(of: advertisements, peripheral)
        for (index, advertisement) in advertisements.enumerated() {
            let element = advertisements.name(at: index)
            examineContent(of: advertisement, peripheral, element)
            examineTimes(of: advertisement, element)
            issues += advertisement.roomIssues(named: element)
        }
    }

    /// A peripheral without services needs advertisements with a content of their own.
    ///
    /// The rule ends with the first service. The program can remove all services during a run, and add others
    /// later.
    private mutating func examinePurpose(of advertisements: [Advertisement], _ peripheral: Peripheral) {
        guard peripheral.declarations.isEmpty, peripheral.services.isEmpty,
            advertisements.contains(where: { $0.kind == .connectable && !$0.hasData })
        else { return }
        error(
            "peripheral",
            "it has no services, and an advertisement without data",
            "declare at least one GATTService, or an Advertisement with data, such as a beacon"
        )
    }

    private mutating func examineContent(
        of advertisement: Advertisement,
        _ peripheral: Peripheral,
        _ element: String
    ) {
        let response = advertisement.scanResponse
        for uuid in Array(advertisement.serviceData.keys) + Array(response.serviceData.keys) {
            examineForm(of: uuid, "service data of the \(element)")
        }
        examineList(advertisement.services ?? [], "services", element)
        examineList(advertisement.solicitedServices, "solicited services", element)
        examineList(response.services, "services of the scan response", element)
        examineList(response.solicitedServices, "solicited services of the scan response", element)
        for type in Set(advertisement.rawData.keys).union(response.rawData.keys).inOrder() {
            guard let remedy = type.properPlace else { continue }
            error("raw data \(type) of the \(element)", "raw data cannot have this type", remedy)
        }
        if advertisement.kind == .broadcast, advertisement.discoverability != .never {
            error(
                "discoverability of the \(element)",
                "a broadcast cannot be discoverable",
                "leave it out, or make the advertisement .connectable"
            )
        }
        // The peripheral's own name is examined separately.
        if let name = advertisement.localName, name != peripheral.name, name.utf8.count > 248 {
            error(
                "local name of the \(element)",
                "it has \(name.utf8.count) bytes",
                "use at most 248 bytes of UTF-8"
            )
        }
        if advertisement.localName != nil, advertisement.includes.contains(.localName) {
            error("local name of the \(element)", "the stack includes one as well", "keep one of them")
        }
        if advertisement.appearance != nil, advertisement.includes.contains(.appearance) {
            error("appearance of the \(element)", "the stack includes one as well", "keep one of them")
        }
        if advertisement.includes.contains(.appearance) {
            error(
                "include appearance of the \(element)",
                "no Bluetooth stack adds the appearance",
                "set the value instead, such as appearance: 0x0340"
            )
        }
    }

    private mutating func examineList(_ uuids: [BluetoothUUID], _ field: String, _ element: String) {
        for uuid in uuids { examineForm(of: uuid, "\(field) of the \(element)") }
        var seen: Set<BluetoothUUID> = []
        for uuid in uuids where !seen.insert(uuid).inserted {
            error("\(field) of the \(element)", "it contains \(uuid) twice", "list each UUID once")
        }
    }

    private mutating func examineTimes(of advertisement: Advertisement, _ element: String) {
        examineSeconds(advertisement.duration, "duration of the \(element)")
        examineSeconds(advertisement.timeout, "timeout of the \(element)")
        if let limit = advertisement.discoverability.limit {
            examineSeconds(limit, "discoverability of the \(element)")
            if let timeout = advertisement.timeout, limit > timeout {
                error(
                    "discoverability of the \(element)",
                    "it lasts longer than the timeout, which ends both",
                    "shorten it, or make it .general"
                )
            }
        }
        if let interval = advertisement.interval {
            examine(interval, "interval of the \(element)")
        }
        if let slowing = advertisement.slowing {
            examine(slowing.interval, "slower interval of the \(element)")
            if slowing.time <= .zero {
                error("slowdown of the \(element)", "\(slowing.time) is not possible", "choose a longer time")
            }
        }
        if let power = advertisement.transmitPower, !TransmitPower.limits.contains(power) {
            error(
                "transmit power of the \(element)",
                "\(power) is not possible",
                "choose \(TransmitPower.limits.lowerBound.dBm) to \(TransmitPower.limits.upperBound)"
            )
        }
    }

    private mutating func examineSeconds(_ time: Duration?, _ element: String) {
        guard let time else { return }
        let (seconds, fraction) = time.components
        if fraction != 0 || !(1...65_535).contains(seconds) {
            error(element, "\(time) is not possible", "choose whole seconds, 1 to 65535")
        }
    }

    private mutating func examine(_ interval: AdvertisingInterval, _ element: String) {
        let limits = AdvertisingInterval.limits
        if interval.minimum > interval.maximum {
            error(element, "its minimum is longer than its maximum", "swap the two")
        } else if !limits.contains(interval.minimum) || !limits.contains(interval.maximum) {
            error(
                element,
                "\(interval) is not possible",
                "choose \(limits.lowerBound.wholeMilliseconds) to \(limits.upperBound.wholeMilliseconds) ms"
            )
        }
    }
}

extension Advertisement {
    /// Whether scanners receive data of the program.
    fileprivate var hasData: Bool {
        !manufacturerData.isEmpty || !serviceData.isEmpty || !rawData.isEmpty
    }
}

extension AdvertisingStructure.DataType {
    /// The declaration to use instead of raw data of this type; `nil` if raw data can have this type.
    fileprivate var properPlace: String? {
        switch rawValue {
        case 0x01: "use discoverability: instead"
        case 0x02...0x07: "use services: instead"
        case 0x08, 0x09: "use localName: instead"
        case 0x0A: "use includes: [.txPower] instead"
        case 0x14, 0x15, 0x1F: "use solicitedServices: instead"
        case 0x16, 0x20, 0x21: "use serviceData: instead"
        case 0x19: "use appearance: instead"
        case 0xFF: "use manufacturerData: instead"
        case 0x1A: "use interval: instead"
        case 0x0D...0x12, 0x17, 0x18, 0x1B...0x1E, 0x22, 0x23, 0x27...0x2B, 0x3D:
            "leave it out: it belongs to the Bluetooth stack"
        default: nil
        }
    }
}
