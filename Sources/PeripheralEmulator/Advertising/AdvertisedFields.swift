internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus

/// The fields of the advertising data or the scan response.
///
/// They correspond to bluetoothd's `bt_ad`, with a name and an appearance.
struct AdvertisedFields: Sendable {
    /// The capacity in bytes that bluetoothd assumes.
    let capacity: Int
    var serviceUUIDs: [BluetoothUUID] = []
    var solicitUUIDs: [BluetoothUUID] = []
    var manufacturerData: [(company: UInt16, data: [UInt8])] = []
    var serviceData: [(uuid: BluetoothUUID, data: [UInt8])] = []
    /// The raw data in the order in which it was set, including the flags.
    var data: [(type: UInt8, data: [UInt8])] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { generated(name: nil, appearance: nil).isEmpty }

    var flags: UInt8? {
        get { data.first { $0.type == Self.flagsType }?.data.first }
        set {
            guard let newValue else { return data.removeAll { $0.type == Self.flagsType } }
            if let place = data.firstIndex(where: { $0.type == Self.flagsType }) {
                data[place].data = [newValue]
            } else {
                data.append((Self.flagsType, [newValue]))
            }
        }
    }

    private static let flagsType: UInt8 = 0x01

    /// Returns the bytes in bluetoothd's order.
    func generated(name: String?, appearance: UInt16?) -> [UInt8] {
        var bytes: [UInt8] = []
        appendList(of: serviceUUIDs, types: (0x03, 0x05, 0x07), to: &bytes)
        appendList(of: solicitUUIDs, types: (0x14, 0x1F, 0x15), to: &bytes)
        for (company, data) in manufacturerData { append(0xFF, company.littleEndian16 + data, to: &bytes) }
        for (uuid, data) in serviceData {
            let key = uuid.littleEndianBytes
            append(key.count == 2 ? 0x16 : key.count == 4 ? 0x20 : 0x21, key + data, to: &bytes)
        }
        if let name { appendName(Array(name.utf8), to: &bytes) }
        if let appearance { append(0x19, appearance.littleEndian16, to: &bytes) }
        for (type, data) in data { append(type, data, to: &bytes) }
        return bytes
    }

    /// Appends the name, cut to the capacity.
    ///
    /// A name that is cut is marked as shortened. No room is reserved for later fields.
    private func appendName(_ name: [UInt8], to bytes: inout [UInt8]) {
        let room = max(0, capacity - bytes.count - 2)
        append(name.count > room ? 0x08 : 0x09, Array(name.prefix(room)), to: &bytes)
    }

    private func append(_ type: UInt8, _ data: [UInt8], to bytes: inout [UInt8]) {
        bytes += [UInt8(truncatingIfNeeded: data.count + 1), type] + data
    }

    /// Appends a list for each width of UUIDs.
    private func appendList(of uuids: [BluetoothUUID], types: (UInt8, UInt8, UInt8), to bytes: inout [UInt8])
    {
        for (width, type) in [(2, types.0), (4, types.1), (16, types.2)] {
            let list = uuids.map(\.littleEndianBytes).filter { $0.count == width }
            if !list.isEmpty { append(type, Array(list.joined()), to: &bytes) }
        }
    }
}

// MARK: - Reading

extension AdvertisedFields {
    /// Sets a property of the advertising data or the scan response.
    ///
    /// Properties of the scan response are passed without their prefix.
    ///
    /// - Returns: `false` if bluetoothd cannot parse the value; `nil` for other properties.
    mutating func set(_ name: String, to value: BusValue, version: BlueZVersion) -> Bool? {
        switch name {
        case "ServiceUUIDs": return take(value.uuids, as: \.serviceUUIDs)
        case "SolicitUUIDs": return take(value.uuids, as: \.solicitUUIDs)
        case "ManufacturerData":
            let entries = value.data { $0.integer(UInt16.self) }
            manufacturerData = []
            guard let entries, entries.allSatisfy({ $0.1.count <= capacity - 4 }) else { return false }
            manufacturerData = entries.map { (company: $0, data: $1) }
        case "ServiceData":
            let entries = value.data { $0.string.flatMap { BluetoothUUID($0) } }
            serviceData = []
            let fits = entries?.allSatisfy { $0.1.count <= capacity - 2 - $0.0.littleEndianBytes.count }
            guard let entries, fits == true else { return false }
            serviceData = entries.map { (uuid: $0, data: $1) }
        case "Data":
            let entries = value.data { $0.integer(UInt8.self) }
            data = []
            guard let entries else { return false }
            for (type, bytes) in entries {
                // From 5.86 on, the identifier of a coordinated set must be an identifier of this set.
                let isForeign = type == 0x2E && version >= BlueZVersion(major: 5, minor: 86)
                guard bytes.count <= capacity - 2, !Self.reservedTypes.contains(type), !isForeign else {
                    return false
                }
                data.append((type, bytes))
            }
        default: return nil
        }
        return true
    }

    private mutating func take(
        _ uuids: [BluetoothUUID]?,
        as list: WritableKeyPath<AdvertisedFields, [BluetoothUUID]>
    ) -> Bool {
        self[keyPath: list] = uuids ?? []
        return uuids != nil
    }

    /// The data types that have separate properties or that the stack sends.
    private static let reservedTypes: Set<UInt8> = Set(0x01...0x0A).union(0x0D...0x12).union(0x14...0x23)
        .union(
            0x27...0x2B
        ).union([0x3D, 0xFF])
}

extension BusValue {
    /// The UUIDs of an array of strings; `nil` if an element is not a UUID.
    fileprivate var uuids: [BluetoothUUID]? {
        guard let elements else { return nil }
        let uuids = elements.compactMap { $0.string.flatMap { BluetoothUUID($0) } }
        return uuids.count == elements.count ? uuids : nil
    }

    /// Returns a dictionary of byte arrays; `nil` if one of the arrays is empty.
    ///
    /// bluetoothd does not recognize the type of an empty array.
    fileprivate func data<Key>(by key: (BusValue) -> Key?) -> [(Key, [UInt8])]? {
        guard let dictionary else { return nil }
        let entries = dictionary.entries.compactMap { entry -> (Key, [UInt8])? in
            guard let key = key(entry.key), let bytes = entry.value.bytes, !bytes.isEmpty else { return nil }
            return (key, bytes)
        }
        return entries.count == dictionary.entries.count ? entries : nil
    }
}

extension UInt16 {
    fileprivate var littleEndian16: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}
