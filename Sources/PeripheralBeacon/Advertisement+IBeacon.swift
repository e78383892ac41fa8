public import PeripheralKit

extension Advertisement {
    /// An iBeacon advertisement.
    ///
    /// ```swift
    /// let peripheral = Peripheral("Shop") {
    ///     Advertisement.iBeacon(
    ///         uuid: "e2c56db5-dffb-48d2-b060-d0f5a71096e0",
    ///         major: 1,
    ///         minor: 2,
    ///         measuredPower: -59
    ///     )
    /// }
    /// ```
    ///
    /// The advertisement contains the 27 bytes of manufacturer data that Apple's *Proximity Beacon
    /// Specification*, release R1, defines. It contains no name and no services. Apple grants a license for
    /// devices with the name iBeacon.
    ///
    /// The specification shows the flags 0x06. BlueZ sends the flags 0x04 or none, and the program cannot
    /// choose them.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that the beacons of one operator share. Apps on iOS search for this UUID.
    ///   - major: The number of a group of beacons, for example of one shop.
    ///   - minor: The number of the beacon in its group.
    ///   - measuredPower: The received signal strength in dBm at a distance of 1 m. Measure it for the
    ///     finished device.
    ///   - interval: The advertising interval. The specification demands 100 ms. Some Bluetooth stacks do not
    ///     let the program choose the interval.
    /// - Returns: The advertisement, which centrals cannot connect to.
    public static func iBeacon(
        uuid: BluetoothUUID,
        major: UInt16,
        minor: UInt16,
        measuredPower: Int8,
        interval: AdvertisingInterval? = nil
    ) -> Advertisement {
        let type: [UInt8] = [0x02, 0x15]
        let content =
            type + uuid.bigEndianBytes + major.bigEndianBytes + minor.bigEndianBytes
            + [UInt8(bitPattern: measuredPower)]
        return Advertisement(
            .broadcast,
            localName: "",
            // Validation refuses a malformed UUID here. In the manufacturer data, it cannot.
            services: uuid.attBytes.isEmpty ? [uuid] : [],
            manufacturerData: [0x004C: content],
            interval: interval
        )
    }
}

extension BluetoothUUID {
    /// The 16 bytes of the 128-bit form, most significant byte first; none for a malformed literal.
    fileprivate var bigEndianBytes: [UInt8] {
        guard !attBytes.isEmpty else { return [] }
        let text = Array(fullDescription.utf8.filter { $0 != UInt8(ascii: "-") })
        return stride(from: 0, to: text.count, by: 2).compactMap { index in
            UInt8(String(decoding: text[index..<index + 2], as: UTF8.self), radix: 16)
        }
    }
}
