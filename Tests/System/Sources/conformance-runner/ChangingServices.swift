import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Services that come and go at random, and those that are present.
struct ChangingServices {
    /// A service whose readable values are its number.
    struct Sensor {
        let number: UInt16
        let service: GATTService
        let contents: Contents

        init(_ number: UInt16, characteristics: Int) {
            let uuid = BluetoothUUID(0xC000 + number)
            let properties: [CharacteristicProperties] = (0..<characteristics).map { index in
                [[.read, .notify], [.read], [.notify]][index % 3]
            }
            let values = properties.enumerated().map { index, properties in
                Characteristic<UInt16>(BluetoothUUID(0xB000 + UInt16(index)), properties) {
                    if properties.contains(.read) { Read { number } }
                }
            }
            self.number = number
            service = GATTService(uuid) { values }
            contents = Contents(
                uuid: uuid,
                characteristics: properties.enumerated().map { index, properties in
                    Contents.Value(
                        uuid: BluetoothUUID(0xB000 + UInt16(index)),
                        properties: properties,
                        descriptors: properties.contains(.notify) ? [.clientCharacteristicConfiguration] : []
                    )
                }
            )
        }
    }

    /// What a central finds of a service, apart from the handles.
    struct Contents: Hashable {
        struct Value: Hashable {
            var uuid: BluetoothUUID
            var properties: CharacteristicProperties
            var descriptors: [BluetoothUUID]
        }

        var uuid: BluetoothUUID
        var characteristics: [Value]

        init(uuid: BluetoothUUID, characteristics: [Value]) {
            (self.uuid, self.characteristics) = (uuid, characteristics)
        }

        init(_ service: DiscoveredService) {
            uuid = service.uuid
            characteristics = service.characteristics.map {
                Value(uuid: $0.uuid, properties: $0.properties, descriptors: $0.descriptors.map(\.uuid))
            }
        }
    }

    enum Change {
        case add(Sensor)
        case remove(Sensor)
        case replace(Sensor, by: Sensor)
    }

    /// So few that the handles up to 0x03FF always suffice.
    private static let most = 12
    private static let largest = 8
    /// The number of services that come and go again and again.
    private static let returning: UInt16 = 24

    private(set) var present: [Sensor] = []
    private var absent: [Sensor]
    private let hasNew: Bool
    private var nextNumber: UInt16
    private var state: UInt64

    init(seed: UInt64, hasNew: Bool) {
        self.hasNew = hasNew
        absent = (0..<Self.returning).map { Sensor($0, characteristics: 1 + Int($0) % Self.largest) }
        nextNumber = UInt16(absent.count)
        state = seed
    }

    /// Makes a change at random.
    mutating func change() -> Change {
        let kind = present.isEmpty ? 0 : random(3)
        if kind == 1 || kind == 0 && present.count == Self.most { return .remove(takePresent()) }
        let added = takeAbsent()
        guard kind == 2 else {
            present.append(added)
            return .add(added)
        }
        let removed = takePresent()
        present.append(added)
        return .replace(removed, by: added)
    }

    private mutating func takePresent() -> Sensor {
        let sensor = present.remove(at: random(present.count))
        // The new ones are present only once.
        if sensor.number < Self.returning { absent.append(sensor) }
        return sensor
    }

    /// With new services, one in four was never present, so the handles below 0x0400 are used again.
    private mutating func takeAbsent() -> Sensor {
        guard !absent.isEmpty, !hasNew || random(4) > 0 else {
            nextNumber += 1
            return Sensor(nextNumber - 1, characteristics: 1 + random(Self.largest))
        }
        return absent.remove(at: random(absent.count))
    }

    /// A linear congruential generator, so that each run with a seed makes the same changes.
    private mutating func random(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }
}
