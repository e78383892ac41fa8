package import PeripheralCore

/// The structures of declared fields, in the order in which they are sent.
///
/// One field can consist of several structures. A list of services consists of one structure for each width
/// of UUID (Core Specification Supplement, Part A, 1).
package struct AdvertisementStructures: Sendable {
    /// A structure of a declared field, of any length.
    package struct Element: Sendable {
        package let field: AdvertisingField
        package let type: AdvertisingStructure.DataType
        package let data: [UInt8]
        /// Whether a declared value has no bytes.
        package let isEmpty: Bool

        /// The number of bytes on the air: length, type and data.
        package var byteCount: Int { 2 + data.count }
    }

    package private(set) var elements: [Element] = []

    package init() {}

    package var byteCount: Int { elements.reduce(0) { $0 + $1.byteCount } }

    package mutating func append(
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
            append(
                .manufacturerData(company),
                .manufacturerData,
                company.gattBytes + data,
                isEmpty: data.isEmpty
            )
        }
        for (uuid, data) in serviceData.inOrder(by: { $0.key < $1.key }) {
            let key = uuid.littleEndianBytes
            let type: AdvertisingStructure.DataType =
                switch key.count {
                case 2: .serviceData16
                case 4: .serviceData32
                default: .serviceData128
                }
            append(.serviceData(uuid), type, key + data, isEmpty: data.isEmpty)
        }
    }

    package mutating func append(rawData: [AdvertisingStructure.DataType: [UInt8]]) {
        for (type, data) in rawData.inOrder(by: { $0.key < $1.key }) {
            append(.rawData(type), type, data, isEmpty: data.isEmpty)
        }
    }

    package mutating func append(
        _ field: AdvertisingField,
        _ type: AdvertisingStructure.DataType,
        _ data: [UInt8],
        isEmpty: Bool = false
    ) {
        elements.append(Element(field: field, type: type, data: data, isEmpty: isEmpty))
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
