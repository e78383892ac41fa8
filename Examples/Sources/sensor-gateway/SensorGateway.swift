import ArgumentParser
import ExampleSupport
import PeripheralKit
import PeripheralTesting

/// A gateway that publishes one service for each sensor that it hears: the command line and the run.
@main
struct SensorGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensor-gateway",
        abstract: "Publish a service for each sensor in the house, as the sensors come and go.",
        discussion: "The sensors are simulated. One of them has an empty battery from time to time."
    )

    @Option(help: "The name under which centrals find the gateway.")
    var name = "Gateway"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let house = House()
        // A sensor needs 6 handles: the service, the temperature with its configuration, and the room.
        let gateway = Peripheral(name, reservedHandles: 64) { house.summary }
        try await options.run(gateway) { session in
            try await house.publish(in: session)
        } emulated: { central in
            try await Self.watch(house, by: central)
        }
    }

    /// Lets a phone follow the sensors.
    private static func watch(_ house: House, by phone: VirtualCentral) async throws {
        try await phone.connect()
        try await phone.subscribe(to: house.count)
        // Three sensors come, one goes, and the same one returns.
        for _ in 0..<5 {
            let count = try await phone.nextUpdate(of: house.count)
            Terminal.print("phone:   sensors: \(count)")
            for service in try await phone.discover().services where service.uuid == RoomSensor.uuid {
                let room = service.characteristics.first { $0.uuid == RoomSensor.roomUUID }
                guard let handle = room?.valueHandle else { continue }
                let name = String(decoding: try await phone.read(handle, offset: 0), as: UTF8.self)
                Terminal.print("phone:     \(name) at handle \(service.handles.lowerBound)")
            }
        }
    }
}
