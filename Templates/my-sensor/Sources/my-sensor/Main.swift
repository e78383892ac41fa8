import Glibc
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralTesting

@main
enum Main {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error thrown from main would trap and print a crash report.
            let line = "my-sensor: \(error)\n"
            write(STDERR_FILENO, line, line.utf8.count)
            exit(1)
        }
    }

    static func run() async throws {
        // Take the readings of your own sensor here.
        let sensor = MySensor { Int16.random(in: 2000...2200) }
        switch Array(CommandLine.arguments.dropFirst()) {
        case []:
            try await runOnBlueZ(sensor)
        case ["--emulated"]:
            try await runEmulated(sensor)
        case ["--help"]:
            print(usage)
        case let arguments:
            throw UsageError(description: "unknown arguments: \(arguments.joined(separator: " "))\n\(usage)")
        }
    }

    private static let usage = """
        usage: my-sensor [--emulated | --help]
          --emulated  use an emulated bluetoothd and a virtual central; no Bluetooth is needed
          --help      print this text
        Without an option, the sensor uses the Bluetooth adapter of this device.
        """

    private struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the sensor on the Bluetooth adapter of this device.
    static func runOnBlueZ(_ sensor: MySensor) async throws {
        let peripheral = sensor.peripheral
        try await peripheral.run(on: .bluez, stoppingOn: [SIGTERM, SIGINT]) { session in
            print("\(peripheral.name) is advertising; stop with Ctrl-C.")
            for await _ in session.events {}
        }
    }

    /// Runs the sensor on an emulated bluetoothd, with a virtual central that takes three readings.
    static func runEmulated(_ sensor: MySensor) async throws {
        let peripheral = sensor.peripheral
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend) { _ in
                print("\(peripheral.name) is advertising to a virtual central. No radio is used.")
                let central = bluez.central(for: peripheral)
                try await central.connect()
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
                central.disconnect()
            }
        }
    }
}
