internal import PeripheralCore
internal import PeripheralTesting

extension AdvertisementDescription {
    /// The most bytes of a legacy advertisement.
    private static let capacity = 31
    /// The most bytes of an extended advertisement, as the controllers of the recordings have it.
    private static let extendedCapacity = 251

    /// The advertisement as bluetoothd and the kernel put it together.
    ///
    /// - Returns: `nil` when it is too long, or demands what the kernel refuses.
    func encoded(isExtended: Bool, version: BlueZVersion, deviceName: String) -> VirtualAdvertisement? {
        var data = advertisingData
        // The kernel wants to add an appearance that bluetoothd has added already.
        guard !includes.contains("appearance") else { return nil }
        let room = Self.capacity - (includes.contains("tx-power") ? 3 : 0)
        guard data.count <= room else {
            // Newer versions advertise what is too long for a legacy advertisement in an extended one.
            guard isExtended, version >= .automaticExtendedAdvertising, data.count <= Self.extendedCapacity
            else {
                return nil
            }
            return VirtualAdvertisement(advertisingData: data, scanResponse: [], isConnectable: isPeripheral)
        }
        // Newer versions cut a name for the controller's scan response, which a legacy advertisement does not have.
        if isExtended, version >= .namesForController, let localName, localName.utf8.count > Self.capacity - 2
        {
            return nil
        }
        if !isDiscoverable {
            // The flags that the kernel puts in front: no classic Bluetooth.
            if data.count + 3 <= room {
                if !data.isEmpty || !isExtended || version >= .stableAdvertisingProperties {
                    data = [2, 0x01, 0x04] + data
                }
            } else if isExtended {
                return nil
            }
        }
        if includes.contains("tx-power") { data += [2, 0x0A, 0] }
        return VirtualAdvertisement(
            advertisingData: data,
            scanResponse: scanResponse(deviceName: deviceName),
            isConnectable: isPeripheral
        )
    }

    /// What bluetoothd puts together, in its order.
    private var advertisingData: [UInt8] {
        var data: [UInt8] = []
        data += Self.lists(of: serviceUUIDs, types: [2: 0x03, 4: 0x05, 16: 0x07])
        data += Self.lists(of: solicitUUIDs, types: [2: 0x14, 4: 0x1F, 16: 0x15])
        for (company, bytes) in manufacturerData {
            data += Self.structure(0xFF, company.littleEndian16 + bytes)
        }
        for (uuid, bytes) in serviceData {
            let key = uuid.littleEndianBytes
            data += Self.structure(key.count == 2 ? 0x16 : key.count == 4 ? 0x20 : 0x21, key + bytes)
        }
        if let localName, secondaryChannel != nil, isPeripheral { data += Self.name(localName) }
        if let appearance { data += Self.structure(0x19, appearance.littleEndian16) }
        for (type, bytes) in self.data { data += Self.structure(type, bytes) }
        if isDiscoverable { data += Self.structure(0x01, [0x06]) }
        return data
    }

    private func scanResponse(deviceName: String) -> [UInt8] {
        // Without legacy advertising there is no scan response to a connectable advertisement.
        if secondaryChannel != nil && isPeripheral { return [] }
        if let localName { return Self.name(localName) }
        return includes.contains("local-name") ? Self.name(deviceName) : []
    }

    /// A name that is too long is cut and called short.
    private static func name(_ name: String) -> [UInt8] {
        let bytes = Array(name.utf8)
        let room = capacity - 2
        return bytes.count <= room
            ? structure(0x09, bytes) : structure(0x08, Array(bytes.prefix(room)))
    }

    /// A list for each width, by its type.
    private static func lists(of uuids: [BluetoothUUID], types: KeyValuePairs<Int, UInt8>) -> [UInt8] {
        types.flatMap { width, type -> [UInt8] in
            let list = uuids.map(\.littleEndianBytes).filter { $0.count == width }
            return list.isEmpty ? [] : structure(type, Array(list.joined()))
        }
    }

    private static func structure(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [UInt8(clamping: bytes.count + 1), type] + bytes
    }
}

extension UInt16 {
    fileprivate var littleEndian16: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}

extension BlueZVersion {
    /// The first that cuts names to what the controller says instead of to a legacy advertisement.
    static let namesForController = BlueZVersion(major: 5, minor: 69)
    /// The first that turns to extended advertising by itself.
    static let automaticExtendedAdvertising = BlueZVersion(major: 5, minor: 76)
    /// The first in which intervals, power and capabilities are no experiment.
    static let stableAdvertisingProperties = BlueZVersion(major: 5, minor: 77)
}
