internal import PeripheralCore

/// The structures that bluetoothd creates from declared fields, in its order (BlueZ, src/shared/ad.c).
struct AdvertisingStructures {
    typealias Entry = AdvertisingPlan.Entry

    let place: AdvertisingPlan.Place
    private(set) var entries: [Entry] = []

    init(in place: AdvertisingPlan.Place) {
        self.place = place
    }

    mutating func append(
        services: [BluetoothUUID],
        solicitedServices: [BluetoothUUID],
        manufacturerData: [UInt16: [UInt8]],
        serviceData: [BluetoothUUID: [UInt8]]
    ) {
        append(.services, services, types: [2: .services16, 4: .services32, 16: .services128])
        append(
            .solicitedServices,
            solicitedServices,
            types: [2: .solicitedServices16, 4: .solicitedServices32, 16: .solicitedServices128]
        )
        for (company, data) in manufacturerData.inOrder(by: { $0.key < $1.key }) {
            append(.manufacturerData(company), .manufacturerData, company.gattBytes + data)
        }
        for (uuid, data) in serviceData.inOrder(by: { $0.key < $1.key }) {
            let key = uuid.littleEndianBytes
            let type: AdvertisingStructure.DataType =
                switch key.count {
                case 2: .serviceData16
                case 4: .serviceData32
                default: .serviceData128
                }
            append(.serviceData(uuid), type, key + data)
        }
    }

    mutating func append(rawData: [AdvertisingStructure.DataType: [UInt8]]) {
        for (type, data) in rawData.inOrder(by: { $0.key < $1.key }) {
            append(.rawData(type), type, data)
        }
    }

    mutating func append(
        _ field: AdvertisingField,
        _ type: AdvertisingStructure.DataType,
        _ data: [UInt8],
        by source: AdvertisingPlan.Source = .declaration,
        isPlaceholder: Bool = false
    ) {
        entries.append(Entry(field, type, data, in: place, by: source, isPlaceholder: isPlaceholder))
    }

    /// Appends a list for each width of UUID.
    private mutating func append(
        _ field: AdvertisingField,
        _ uuids: [BluetoothUUID],
        types: KeyValuePairs<Int, AdvertisingStructure.DataType>
    ) {
        for (width, type) in types {
            let list = uuids.map(\.littleEndianBytes).filter { $0.count == width }
            if !list.isEmpty { append(field, type, Array(list.joined())) }
        }
    }
}

extension [AdvertisingPlan.Entry] {
    var byteCount: Int { reduce(0) { $0 + $1.byteCount } }

    /// The size without the structures that the kernel adds.
    var ownByteCount: Int { filter { !$0.isFromKernel }.byteCount }
}
