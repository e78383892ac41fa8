@testable import PeripheralCore

extension Entrance {
    /// Advertising data and scan responses: what any device nearby sends.
    static let advertisingData = Entrance(name: "advertising-data") { bytes in
        var feed = Feed(bytes)
        let first = feed.bytes()
        let (data, response) = (examine(first), examine(feed.remaining()))
        let payload = AdvertisementPayload(advertisingData: data, scanResponse: response)
        let all = data.structures + response.structures
        let bytesInAll = all.reduce(0) { $0 + $1.data.count }
        check(payload.services.count * 2 <= bytesInAll)
        check(Set(payload.services).count == payload.services.count)
        for service in payload.services + payload.serviceData.keys {
            check(BluetoothUUID(littleEndian: service.littleEndianBytes) == service)
            check([2, 16].contains(service.attBytes.count))
            check(BluetoothUUID(littleEndian: service.attBytes) == service)
        }
        let services = payload.services.sorted()
        check(zip(services, services.dropFirst()).allSatisfy { $0 < $1 })
        check(payload.manufacturerData.count + payload.serviceData.count <= all.count)
        check(payload.localName?.isEmpty != true)
        check(payload.flags == nil || data[.flags] != nil || response[.flags] != nil)
        if payload.flags != nil { plantedFault(all.flatMap(\.data), count: 8) }
    }

    /// What is decoded is a beginning of the bytes, and is decoded as the same again.
    private static func examine(_ bytes: [UInt8]) -> AdvertisingData {
        let data = AdvertisingData(decoding: bytes)
        check(data.bytes.count == data.byteCount)
        check(bytes.starts(with: data.bytes))
        check(AdvertisingData(decoding: data.bytes) == data)
        check(AdvertisingData(data.structures) == data)
        for structure in data.structures {
            check(structure.type.description.utf8.count == 4)
            check(data[structure.type] != nil)
            check(
                AdvertisingStructure(structure.type, structure.data + bytes + bytes) == nil
                    || bytes.count < 255
            )
        }
        let sorted = data.structures.map(\.type).sorted()
        check(zip(sorted, sorted.dropFirst()).allSatisfy { !($1 < $0) })
        return data
    }
}
