public import PeripheralCore

/// An advertisement that a central has heard.
public struct ScanResult: Hashable, Sendable {
    /// The address that advertises.
    public var address: DeviceAddress

    /// The advertising data as sent, in AD structures (Core Specification, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]

    /// The scan response as sent, in AD structures; empty when there is none.
    public var scanResponse: [UInt8]

    /// Whether a central can connect.
    public var isConnectable: Bool

    /// Makes a result, for implementations of ``TestCentral``.
    public init(
        address: DeviceAddress,
        advertisingData: [UInt8],
        scanResponse: [UInt8],
        isConnectable: Bool
    ) {
        self.address = address
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
    }
}

extension ScanResult {
    /// The name, or as much of it as was sent.
    public var localName: String? {
        let types: [AdvertisingStructure.DataType] = [.completeLocalName, .shortenedLocalName]
        return structures.first { types.contains($0.type) }.map { String(decoding: $0.data, as: UTF8.self) }
    }

    /// The services, in the order in which they were sent.
    public var services: [BluetoothUUID] {
        let sizes: [AdvertisingStructure.DataType: Int] = [
            .incompleteServices16: 2, .services16: 2,
            .incompleteServices32: 4, .services32: 4,
            .incompleteServices128: 16, .services128: 16,
        ]
        return structures.flatMap { structure -> [BluetoothUUID] in
            guard let size = sizes[structure.type] else { return [] }
            return stride(from: 0, through: structure.data.count - size, by: size).compactMap { start in
                BluetoothUUID(littleEndian: structure.data[start..<start + size])
            }
        }
    }

    /// The manufacturer's own data, by company identifier.
    public var manufacturerData: [UInt16: [UInt8]] {
        Dictionary(
            structures.filter { $0.type == .manufacturerData && $0.data.count >= 2 }.map { structure in
                (UInt16(structure.data[0]) | UInt16(structure.data[1]) << 8, Array(structure.data[2...]))
            }
        ) { first, _ in first }
    }

    /// Data of services.
    public var serviceData: [BluetoothUUID: [UInt8]] {
        let sizes: [AdvertisingStructure.DataType: Int] = [
            .serviceData16: 2, .serviceData32: 4, .serviceData128: 16,
        ]
        return Dictionary(
            structures.compactMap { structure -> (BluetoothUUID, [UInt8])? in
                guard let size = sizes[structure.type],
                    let uuid = BluetoothUUID(littleEndian: structure.data.prefix(size))
                else { return nil }
                return (uuid, Array(structure.data.dropFirst(size)))
            }
        ) { first, _ in first }
    }

    /// What the device looks like.
    public var appearance: UInt16? {
        structures.first { $0.type == .appearance && $0.data.count == 2 }.map { structure in
            UInt16(structure.data[0]) | UInt16(structure.data[1]) << 8
        }
    }

    /// Whether the device wants to be found by those who search for new devices.
    public var isDiscoverable: Bool {
        structures.first { $0.type == .flags && !$0.data.isEmpty }.map { $0.data[0] & 0b11 != 0 } ?? false
    }

    /// The parts of the advertising data, then of the scan response.
    private var structures: [AdvertisingStructure] {
        AdvertisingData(decoding: advertisingData).structures
            + AdvertisingData(decoding: scanResponse).structures
    }
}
