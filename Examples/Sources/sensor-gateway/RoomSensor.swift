import PeripheralKit

/// The service of one sensor: a temperature that changes, and the name of the room.
struct RoomSensor: GATTServiceDeclaration {
    static let uuid: BluetoothUUID = "5c3a0071-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let roomUUID: BluetoothUUID = "5c3a0073-7e3c-4b6e-9d29-b3f1c0a1d001"

    let name: String
    /// The temperature in hundredths of a degree Celsius.
    let temperature = Characteristic<Int16>("5c3a0072-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .notify])
    private let room: Characteristic<String>
    private let thermometer = Thermometer()

    init(_ name: String) {
        self.name = name
        room = Characteristic<String>(Self.roomUUID, value: name)
    }

    var service: GATTService {
        GATTService(Self.uuid) {
            temperature { Read { thermometer.value } }
            room
        }
    }

    /// Sends each new temperature, as long as the gateway has the service.
    func run(in session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            try await session.notify(temperature, thermometer.measure())
        }
    }
}
