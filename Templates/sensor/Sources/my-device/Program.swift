import MyDevicePeripheral
import PeripheralKit
import PeripheralTesting

/// The sensor of the device, and what a virtual central does with `--emulated`.
struct Program: Sendable {
    // Take the readings of your own sensor here.
    private let sensor = SensorService { Int16.random(in: 2000...2200) }

    var peripheral: Peripheral { sensor.peripheral }

    func demonstrate(_ central: VirtualCentral) async throws {
        print("The central reads \(try await central.read(sensor.reading)).")
        do {
            try await central.write(sensor.period, 9)
        } catch {
            print("The central is refused a period of 9 milliseconds: \(error).")
        }
        try await central.write(sensor.period, 500)
        try await central.subscribe(to: sensor.reading)
        for _ in 1...3 {
            print("The central is notified of \(try await central.nextUpdate(of: sensor.reading)).")
        }
    }
}
