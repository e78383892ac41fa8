internal import PeripheralCore
internal import PeripheralKit

/// The service of a sensor that a gateway publishes while the sensor is in reach.
struct GatewaySensor: GATTServiceDeclaration {
    let uuid: BluetoothUUID
    let value: Characteristic<[UInt8]>
    private let others: [Characteristic<[UInt8]>]

    /// - Parameters:
    ///   - number: A number that determines the type of the service.
    ///   - value: The value of the sensor.
    ///   - extraCharacteristics: The number of further characteristics.
    init(_ number: UInt8, _ value: Characteristic<[UInt8]>, extraCharacteristics: Int = 0) {
        uuid = BluetoothUUID(0xC100 + UInt16(number))
        self.value = value
        others = (0..<extraCharacteristics).map { _ in
            Characteristic<[UInt8]>(ScenarioUUID.thirdValue, .read) { Read { [number] } }
        }
    }

    /// Creates a sensor whose value can be read.
    init(
        _ number: UInt8 = 0,
        _ properties: CharacteristicProperties = [.read, .notify],
        extraCharacteristics: Int = 0,
        read: @escaping @Sendable () async throws -> [UInt8] = { [7] }
    ) {
        let value = Characteristic<[UInt8]>(ScenarioUUID.otherValue, properties) {
            Read { try await read() }
        }
        self.init(number, value, extraCharacteristics: extraCharacteristics)
    }

    var service: GATTService {
        GATTService(uuid) {
            value
            others
        }
    }
}

/// A gateway with one service that stays.
struct Gateway {
    let base = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [1] } }
    let peripheral: Peripheral

    /// - Parameters:
    ///   - reservedHandles: The number of handles for services that are added later.
    ///   - pairing: How centrals pair with the gateway.
    ///   - restorationIdentifier: The identifier of the preserved state; `nil` without preservation.
    init(
        reservedHandles: Int = 0,
        pairing: Pairing = .none,
        restorationIdentifier: String? = nil
    ) {
        let base = base
        peripheral = Peripheral(
            "Gateway",
            restorationIdentifier: restorationIdentifier,
            reservedHandles: reservedHandles,
            pairing: pairing
        ) {
            GATTService(ScenarioUUID.service) { base }
        }
    }
}
