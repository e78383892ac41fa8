import PeripheralKit
import PeripheralTesting

extension DiscoveredDatabase {
    /// What the application has declared, in short: for each characteristic its service, its type, and its
    /// properties.
    var declared: [DeclaredCharacteristic] {
        applicationServices.flatMap { service in
            service.characteristics.map {
                DeclaredCharacteristic(service: service.uuid, uuid: $0.uuid, properties: $0.properties)
            }
        }
    }
}

struct DeclaredCharacteristic: Hashable {
    var service: BluetoothUUID
    var uuid: BluetoothUUID
    var properties: CharacteristicProperties
}
