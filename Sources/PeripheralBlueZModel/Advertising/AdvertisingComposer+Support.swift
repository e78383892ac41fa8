internal import PeripheralCore
internal import PeripheralKit

// Finds declared elements that the adapter or the version of BlueZ does not support, or supports differently.
extension AdvertisingComposer {
    mutating func examineSupport() {
        examineChannel()
        examineIncludes()
        examineScanResponse()
        examineEmptyData()
        examineTiming()
        if isExtended, advertisement.secondaryChannel == nil {
            issues.warning(
                "data",
                "it has more than \(AdvertisingCapabilities.legacyLength) bytes and is sent with extended "
                    + "advertising, which Bluetooth 4 centrals do not receive",
                "shorten it, or set secondaryChannel if this is intended"
            )
        }
        if !capabilities.usesClassic, !data.isEmpty, !data.contains(where: { $0.field == .flags }) {
            issues.warning(
                "flags",
                "the kernel omits them because there is no room",
                "shorten the advertisement by 3 bytes"
            )
        }
    }

    private mutating func examineChannel() {
        guard let channel = advertisement.secondaryChannel, !capabilities.secondaryChannels.contains(channel)
        else { return }
        issues.error(
            "secondary channel",
            "the adapter does not support \(channel)",
            "leave it out, or use a Bluetooth 5 adapter that supports it"
        )
    }

    private mutating func examineIncludes() {
        for include in advertisement.includes.inOrder(by: { $0.description < $1.description })
        where include != .appearance && !capabilities.includes.contains(include) {
            if include == .resolvableSetIdentifier {
                issues.warning(
                    "include \(include)",
                    "BlueZ adds it only from version 5.67 and only with a SIRK",
                    "set SIRK in the section CSIS of BlueZ's main.conf"
                )
            } else {
                issues.warning(
                    "include \(include)",
                    "the adapter does not support this structure",
                    "leave it out"
                )
            }
        }
        if advertisement.includes.contains(.appearance) {
            issues.error(
                "include appearance",
                "BlueZ refuses it",
                "set the value instead, such as appearance: 0x0340"
            )
        }
        if includes(.resolvableSetIdentifier), !advertisement.rawData.isEmpty {
            issues.warning(
                "include rsi",
                "BlueZ replaces the Resolvable Set Identifier with the raw data",
                "leave one of them out"
            )
        }
        if includes(.txPower), !data.contains(where: { $0.field == .txPower }), !data.isEmpty {
            issues.warning(
                "include tx-power",
                "the kernel omits it because there is no room",
                "shorten the advertisement by 3 bytes"
            )
        }
        if includes(.localName), advertisement.localName == nil, !hasResponse {
            issues.warning(
                "include local-name",
                "there is no scan response for it",
                "set localName instead"
            )
        }
    }

    private mutating func examineScanResponse() {
        guard !advertisement.scanResponse.isEmpty else { return }
        if capabilities.version < .scanResponseProperties {
            issues.error(
                "scan response",
                "BlueZ \(capabilities.version) accepts only the name there",
                "use BlueZ 5.80 or later, or move it into the advertisement"
            )
        } else if !hasResponse {
            issues.error(
                "scan response",
                "a connectable extended advertisement has none",
                "move it into the advertisement, which has room for \(dataCapacity) bytes"
            )
        }
    }

    private mutating func examineEmptyData() {
        for entry in data + response where entry.isEmpty {
            issues.error(
                "\(entry.field)",
                "BlueZ refuses empty data",
                "add at least one byte, or leave it out"
            )
        }
    }

    private mutating func examineTiming() {
        let takesTiming = capabilities.appliesIntervals
        let unknown = "BlueZ \(capabilities.version) ignores it"
        let remedy = "use BlueZ 5.77 or later, or start bluetoothd with --experimental"
        if !takesTiming {
            if advertisement.interval != nil || advertisement.slowing != nil {
                issues.warning("interval", unknown, remedy)
            }
        } else if !capabilities.isExtended {
            advertisement.examineLegacyInterval(&issues)
        }
        if let power = advertisement.transmitPower {
            if !takesTiming {
                issues.warning("transmit power", unknown, remedy)
            } else if !capabilities.canSetTransmitPower {
                issues.warning("transmit power", "the adapter chooses it", "leave it out")
            } else if let powers = capabilities.transmitPowers, !powers.contains(power) {
                issues.warning(
                    "transmit power",
                    "the adapter supports \(powers.lowerBound) to \(powers.upperBound) and uses the nearest value",
                    "choose a value in this range"
                )
            }
        }
    }
}
