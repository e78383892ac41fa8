public import PeripheralKit

extension Advertisement {
    private static let bthomeUUID: BluetoothUUID = 0xFCD2

    /// An advertisement with a BTHome packet, which Home Assistant and other receivers understand.
    ///
    /// ```swift
    /// let climate = try Advertisement.bthome([.temperature(21.5), .humidity(48)])
    /// let peripheral = Peripheral("Balcony") { climate }
    /// ```
    ///
    /// The [BTHome format](https://bthome.io/format), version 2, defines the packet. The packet contains the
    /// objects in the order of their numbers. A legacy advertisement has room for 23 bytes of objects, or for
    /// 15 bytes if they are encrypted. A temperature uses 3 bytes.
    ///
    /// Receivers identify a device by its address. Linux sends a `.broadcast` advertisement from a random
    /// address, which changes with each change of the packet. The advertisement is therefore connectable,
    /// also if the peripheral has no services. It then has the address of the adapter.
    ///
    /// - Parameters:
    ///   - objects: The measurements, states and events.
    ///   - kind: Whether centrals can connect to the peripheral.
    ///   - localName: The advertised name, or `nil` for the name of the peripheral.
    ///   - isTriggerBased: Whether the device sends packets only for events. Receivers do not expect packets
    ///     of such a device at regular times.
    ///   - encryption: The encryption of the packet, or `nil` for a packet that everyone can read.
    ///   - interval: The advertising interval. Some Bluetooth stacks do not let the program choose the
    ///     interval.
    /// - Returns: The advertisement.
    /// - Throws: ``BTHomeError`` if a value is not possible, or the error of the encryption's `reserve`.
    public static func bthome(
        _ objects: [BTHomeObject],
        kind: Kind = .connectable,
        localName: String? = nil,
        isTriggerBased: Bool = false,
        encryption: BTHomeEncryption? = nil,
        interval: AdvertisingInterval? = nil
    ) throws -> Advertisement {
        var advertisement = Advertisement(kind, localName: localName, services: [], interval: interval)
        try advertisement.setBTHome(objects, isTriggerBased: isTriggerBased, encryption: encryption)
        return advertisement
    }

    /// Replaces the BTHome packet of the advertisement.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { try $0.setBTHome([.temperature(22), .humidity(47)]) }
    /// ```
    ///
    /// All other properties of the advertisement stay, so the adapter changes the packet without
    /// interruption.
    ///
    /// - Parameters:
    ///   - objects: The measurements, states and events.
    ///   - isTriggerBased: Whether the device sends packets only for events.
    ///   - encryption: The encryption of the packet, or `nil` for a packet that everyone can read. The
    ///     encryption of the replaced packet does not apply to the new packet.
    /// - Throws: ``BTHomeError`` if a value is not possible, or the error of the encryption's `reserve`.
    public mutating func setBTHome(
        _ objects: [BTHomeObject],
        isTriggerBased: Bool = false,
        encryption: BTHomeEncryption? = nil
    ) throws {
        let version: UInt8 = 2
        let information =
            version << 5 | (isTriggerBased ? 1 << 2 : 0) | (encryption == nil ? 0 : 1)
        let plain = try objects.encoded
        let content = try encryption?.seal(plain, information: information) ?? plain
        serviceData[Self.bthomeUUID] = [information] + content
    }
}
