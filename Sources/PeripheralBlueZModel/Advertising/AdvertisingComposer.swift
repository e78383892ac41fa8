internal import PeripheralCore
internal import PeripheralKit

/// Composes an advertisement like bluetoothd and the kernel.
///
/// The composer models src/advertising.c of BlueZ, and net/bluetooth/eir.c and mgmt.c of the kernel. The
/// behavior was recorded with BlueZ 5.66, 5.82 and 5.87 on Linux 6.1. For versions between these three, the
/// behavior follows BlueZ's history.
struct AdvertisingComposer {
    typealias Entry = AdvertisingPlan.Entry

    let advertisement: Advertisement
    let capabilities: AdvertisingCapabilities
    let isConnectable: Bool
    /// Whether extended advertising carries the advertisement.
    private(set) var isExtended = false
    private(set) var data: [Entry] = []
    private(set) var response: [Entry] = []
    var issues: AdvertisementIssues

    init(_ advertisement: Advertisement, for capabilities: AdvertisingCapabilities, named element: String) {
        self.advertisement = advertisement
        self.capabilities = capabilities
        issues = AdvertisementIssues(named: element)
        isConnectable = advertisement.kind == .connectable
        composeData()
        composeResponse()
        examineSupport()
        examineRoom()
    }

    var plan: AdvertisingPlan {
        AdvertisingPlan(
            capabilities: capabilities,
            entries: data + response,
            issues: issues.all,
            isExtended: isExtended,
            isConnectable: isConnectable,
            isScannable: isExtended
                ? !isConnectable && !response.isEmpty : isConnectable || !response.isEmpty,
            advertisingDataCapacity: dataCapacity,
            scanResponseCapacity: responseCapacity,
            interval: capabilities.defaultInterval.map { advertisement.interval ?? $0 },
            slowing: capabilities.appliesIntervals ? advertisement.slowing : nil
        )
    }

    /// The maximum number of bytes of advertising data on the air.
    var dataCapacity: Int {
        isExtended ? capabilities.maximumAdvertisingDataLength : AdvertisingCapabilities.legacyLength
    }

    /// The maximum number of bytes that bluetoothd accepts, without the structures of the kernel.
    var ownDataCapacity: Int {
        let legacy = AdvertisingCapabilities.legacyLength
        // The kernel reserves room for the power, even if it then omits the power.
        let power = includes(.txPower) ? 3 : 0
        guard capabilities.isExtended else { return legacy - power }
        // Before 5.69, bluetoothd allowed only the length of legacy advertising, even for extended
        // advertising.
        guard isExtended, capabilities.version >= .namesForController else { return legacy }
        return min(capabilities.maximumAdvertisingDataLength - power, messageCapacity)
    }

    /// The maximum number of bytes in the scan response.
    var responseCapacity: Int {
        guard isExtended, capabilities.version >= .namesForController else {
            return hasResponse ? AdvertisingCapabilities.legacyLength : 0
        }
        guard hasResponse else { return 0 }
        return max(0, min(capabilities.maximumScanResponseLength, messageCapacity - data.ownByteCount))
    }

    /// The maximum size in bytes of both parts in a message from bluetoothd to the kernel.
    ///
    /// bluetoothd counts the message in one byte. A longer message overflows the count, which can crash
    /// bluetoothd (BlueZ, 2a6968b40).
    private var messageCapacity: Int {
        capabilities.version < BlueZVersion(major: 5, minor: 87) ? 244 : 252
    }

    /// Whether the advertisement has a scan response: legacy advertising and broadcasts are scannable.
    var hasResponse: Bool { !(isConnectable && isExtended) }

    func includes(_ include: AdvertisingInclude) -> Bool {
        advertisement.includes.contains(include) && capabilities.includes.contains(include)
    }
}

// MARK: - Advertising data

extension AdvertisingComposer {
    private mutating func composeData() {
        var fields = AdvertisementStructures()
        fields.append(
            services: advertisement.services ?? [],
            solicitedServices: advertisement.solicitedServices,
            manufacturerData: advertisement.manufacturerData,
            serviceData: advertisement.serviceData
        )
        let front = fields.elements.map { Entry($0, in: .advertisingData) }
        let appearance = advertisement.appearance.map {
            Entry(.appearance, .appearance, $0.gattBytes, in: .advertisingData)
        }
        var back: [Entry] = []
        // Raw data replaces the identifier, because bluetoothd parses it later.
        if includes(.resolvableSetIdentifier), advertisement.rawData.isEmpty {
            let unknown = [UInt8](repeating: 0, count: 6)
            back.append(
                Entry(
                    .resolvableSetIdentifier,
                    .resolvableSetIdentifier,
                    unknown,
                    in: .advertisingData,
                    by: .daemon,
                    isPlaceholder: true
                )
            )
        }
        var rawData = AdvertisementStructures()
        rawData.append(rawData: advertisement.rawData)
        back += rawData.elements.map { Entry($0, in: .advertisingData) }
        if let flags = daemonFlags {
            back.append(Entry(.flags, .flags, [flags.rawValue], in: .advertisingData, by: .daemon))
        }

        // bluetoothd adds the appearance and the name after this decision.
        let decisive = front.byteCount + back.byteCount
        let isTooLong = decisive > AdvertisingCapabilities.legacyLength
        isExtended =
            capabilities.isExtended
            && (advertisement.secondaryChannel != nil
                || isTooLong && capabilities.version >= .automaticExtendedAdvertising)

        data = front + (appearance.map { [$0] } ?? []) + back
        addKernelData()
        if !hasResponse, let name = name(in: .advertisingData, room: roomInData) {
            let start = data.first?.isFromKernel == true && data.first?.field == .flags ? 1 : 0
            data.insert(name, at: start + front.count)
        }
    }

    private var roomInData: Int {
        min(dataCapacity - data.byteCount, ownDataCapacity - data.ownByteCount)
    }

    /// The flags that bluetoothd writes.
    private var daemonFlags: AdvertisingFlags? {
        let isAloneOnAir = !capabilities.usesClassic || !capabilities.isAdapterDiscoverable
        let alone: AdvertisingFlags = isAloneOnAir ? .classicNotSupported : []
        switch advertisement.discoverability.mode {
        case .general: return [.generalDiscoverable, alone]
        case .limited: return [.limitedDiscoverable, alone]
        case .never:
            guard isConnectable, capabilities.version >= .flagsOfUndiscoverable else { return nil }
            if capabilities.version >= .stableAdvertisingProperties { return alone }
            return capabilities.usesClassic ? [] : .classicNotSupported
        }
    }

    /// Adds the kernel's structures.
    ///
    /// The kernel adds flags at the beginning if there are none, and the power at the end.
    private mutating func addKernelData() {
        // An adapter with extended advertising sets up nothing for empty data.
        if capabilities.isExtended, data.isEmpty, nameInData == nil { return }
        let room =
            capabilities.isExtended
            ? AdvertisingCapabilities.extendedLength : AdvertisingCapabilities.legacyLength
        var flags: AdvertisingFlags = capabilities.usesClassic ? [] : .classicNotSupported
        if isConnectable, capabilities.isAdapterDiscoverable { flags.insert(.generalDiscoverable) }
        if !data.contains(where: { $0.field == .flags }), !flags.isEmpty, data.byteCount + 3 <= room {
            let entry = Entry(.flags, .flags, [flags.rawValue], in: .advertisingData, by: .kernel)
            data.insert(entry, at: 0)
        }
        if includes(.txPower), data.byteCount + 3 <= room || isExtended {
            let power = UInt8(truncatingIfNeeded: capabilities.transmitPower.dBm)
            data.append(
                Entry(
                    .txPower,
                    .txPowerLevel,
                    [power],
                    in: .advertisingData,
                    by: .kernel,
                    isPlaceholder: true
                )
            )
        }
    }

    /// The name, if there is no scan response for it.
    private var nameInData: String? { hasResponse ? nil : declaredName }

    private var declaredName: String? {
        guard let name = advertisement.localName, !name.isEmpty else { return nil }
        return name
    }

    /// Returns the longest part of the name that fits.
    ///
    /// BlueZ would cut the name inside a character, or would not cut the name.
    private mutating func name(in place: AdvertisingPlan.Place, room: Int) -> Entry? {
        guard let name = declaredName else { return nil }
        let sent = name.longestPrefix(
            ofUTF8ByteCount: min(room - 2, AdvertisingStructure.maximumDataCount)
        )
        let isShortened = sent.endIndex < name.endIndex
        guard !sent.isEmpty else {
            issues.hasNoRoomForName()
            return nil
        }
        if isShortened {
            issues.shortensName(to: sent, limit: room - 2)
        }
        return Entry(.localName, .completeLocalName, Array(sent.utf8), in: place, isShortened: isShortened)
    }
}

// MARK: - Scan response

extension AdvertisingComposer {
    private mutating func composeResponse() {
        guard hasResponse else { return }
        var front = AdvertisementStructures()
        var back = AdvertisementStructures()
        let declared = advertisement.scanResponse
        if capabilities.version >= .scanResponseProperties {
            front.append(
                services: declared.services,
                solicitedServices: declared.solicitedServices,
                manufacturerData: declared.manufacturerData,
                serviceData: declared.serviceData
            )
            back.append(rawData: declared.rawData)
        }
        let room = responseCapacity - front.byteCount - back.byteCount
        let name = name(in: .scanResponse, room: room)
        response =
            front.elements.map { Entry($0, in: .scanResponse) } + (name.map { [$0] } ?? [])
            + back.elements.map { Entry($0, in: .scanResponse) }
        if name == nil, includes(.localName) { addAdapterName() }
    }

    /// Adds the adapter's name like the kernel, which cuts off a longer name.
    private mutating func addAdapterName() {
        let longest = 10
        let bytes = Array(capabilities.adapterName.utf8)
        let room = AdvertisingCapabilities.legacyLength - response.byteCount
        guard !bytes.isEmpty, room >= longest + 2 else { return }
        response.append(
            Entry(
                .localName,
                bytes.count > longest ? .shortenedLocalName : .completeLocalName,
                Array(bytes.prefix(longest)),
                in: .scanResponse,
                by: .kernel,
                isShortened: bytes.count > longest
            )
        )
    }
}

// MARK: - Room

extension AdvertisingComposer {
    private mutating func examineRoom() {
        data = marked(data, own: ownDataCapacity, capacity: dataCapacity)
        response = marked(response, own: responseCapacity, capacity: responseCapacity)
    }

    private mutating func marked(_ entries: [Entry], own ownCapacity: Int, capacity: Int) -> [Entry] {
        var own = 0
        var end = 0
        return entries.map { entry in
            var entry = entry
            end += entry.byteCount
            if !entry.isFromKernel { own += entry.byteCount }
            entry.fits =
                end <= capacity && own <= ownCapacity
                && entry.data.count <= AdvertisingStructure.maximumDataCount
            if !entry.fits {
                let limit = min(capacity, ownCapacity + end - own)
                issues.exceedsRoom("\(entry.field)", endingAt: end, room: limit)
            }
            return entry
        }
    }
}
