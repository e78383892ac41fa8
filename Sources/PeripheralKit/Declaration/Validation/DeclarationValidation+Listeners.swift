extension DeclarationValidation {
    /// Refuses listeners that no Bluetooth stack can open.
    mutating func examineListeners(of peripheral: Peripheral) {
        var numbers: [UInt16: Int] = [:]
        var places: [DeclarationIdentity: Int] = [:]
        for (index, listener) in peripheral.listeners.enumerated() {
            let element = listener.name(at: index)
            if let first = places.updateValue(index, forKey: listener.identity) {
                error(
                    element,
                    "the same listener is already declared as L2CAP listener \(first + 1)",
                    "create a separate L2CAPListener for each place"
                )
            }
            examineNumber(of: listener, element)
            if let number = listener.requestedPSM.number {
                if let first = numbers[number], !listener.requestedPSM.canMove {
                    error(
                        element,
                        "L2CAP listener \(first + 1) requests the same PSM",
                        "request another PSM, or let the stack choose one with .any"
                    )
                }
                numbers[number] = index
            }
            if !(23...65_535).contains(listener.mtu) {
                error(element, "its MTU is \(listener.mtu) bytes", "use an MTU from 23 to 65535 bytes")
            }
            examine(listener.limits, element)
        }
        examineNumbersInServices(of: peripheral)
    }

    private mutating func examineNumber(of listener: L2CAPListener, _ element: String) {
        guard let number = listener.requestedPSM.number, !L2CAPListener.PSM.valid.contains(number) else {
            return
        }
        error(
            element,
            "it requests the PSM 0x\(String(number, radix: 16, uppercase: true)), which no program can have",
            "request a PSM from 0x80 to 0xFF, or let the stack choose one with .any"
        )
    }

    private mutating func examine(_ limits: ChannelLimits, _ element: String) {
        if limits.channels < 1 || limits.channelsPerCentral < 1 {
            error(element, "its limits permit no channel", "use limits of at least 1 channel")
        }
        if limits.bufferedBytes < 4096 {
            error(
                element,
                "its limit for buffered data is \(limits.bufferedBytes) bytes",
                "use at least 4096 bytes"
            )
        }
    }

    /// Refuses the characteristic of a listener that the peripheral does not declare.
    private mutating func examineNumbersInServices(of peripheral: Peripheral) {
        let declared = Set(peripheral.listeners.map(\.identity))
        for service in peripheral.services {
            for characteristic in service.characteristics {
                guard let listener = characteristic.listener, !declared.contains(listener) else { continue }
                error(
                    characteristic.name(in: service),
                    "it publishes the PSM of an L2CAP listener that the peripheral does not declare",
                    "add the L2CAPListener to the Peripheral"
                )
            }
        }
    }
}

extension L2CAPListener {
    /// The name of the listener in issues, such as `L2CAP listener 1`.
    func name(at index: Int) -> String { "L2CAP listener \(index + 1)" }
}
