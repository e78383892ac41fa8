import ExampleSupport
import PeripheralKit
import Synchronization

/// The sensors of a simulated house, and the service that counts them.
struct House {
    /// The number of sensors that the gateway has now.
    let count = Characteristic<UInt8>("5c3a0075-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .notify])

    private let number = Number()
    private let sensors = ["kitchen", "bathroom", "cellar"].map { RoomSensor($0) }

    /// The service that the gateway always has.
    var summary: GATTService {
        GATTService("5c3a0074-7e3c-4b6e-9d29-b3f1c0a1d001") {
            count { Read { number.value } }
        }
    }

    /// Adds the service of each sensor that appears, and removes those of sensors that are silent.
    func publish(in session: PeripheralSession) async throws {
        _ = try await session.waitForSubscriber(of: count)
        for sensor in sensors {
            try await session.add { sensor }
            try await report(+1, "\(sensor.name) has appeared, and its service is added", in: session)
        }
        while true {
            for sensor in sensors {
                try await session.remove(sensor)
                try await report(-1, "\(sensor.name) is silent, and its service is removed", in: session)
                // The same sensor returns to its handles, so phones find it where it was.
                try await session.add { sensor }
                try await report(+1, "\(sensor.name) is back, and its service is added again", in: session)
            }
        }
    }

    private func report(_ change: Int, _ event: String, in session: PeripheralSession) async throws {
        Terminal.print("gateway: \(event)")
        try await session.notify(count, number.change(by: change))
        try await Task.sleep(for: .milliseconds(500))
    }
}

/// A number that the program changes and centrals read.
private final class Number: Sendable {
    private let number = Mutex<UInt8>(0)

    var value: UInt8 { number.withLock(\.self) }

    func change(by difference: Int) -> UInt8 {
        number.withLock { number in
            number = UInt8(Int(number) + difference)
            return number
        }
    }
}
