import ArgumentParser
import ExampleSupport
import PeripheralBattery
import PeripheralKit

/// The battery of this device: the command line, the declaration and the run.
@main
struct DeviceBattery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-battery",
        abstract: "Report the battery level of this device to centrals.",
        discussion: """
            The level comes from the kernel's class power_supply. A device without a battery uses a simulated one.
            """
    )

    @Option(help: "The name under which centrals find the device.")
    var name = "Device battery"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let gauge = Gauge()
        let battery = BatteryService(level: gauge.level() ?? BatteryLevel(0))
        Terminal.print(gauge.source)
        try await options.run(Peripheral(name) { battery }) { session in
            while true {
                // Drivers do not update the level more often.
                try await Task.sleep(for: .seconds(1))
                if let level = gauge.level() { try await battery.update(to: level, in: session) }
            }
        } emulated: { central in
            try await central.connect()
            Terminal.print("phone: the level is \(try await central.read(battery.level)).")
            try await central.subscribe(to: battery.level)
            for try await level in central.updates(of: battery.level) {
                Terminal.print("phone: the level is \(level) now.")
            }
        }
    }
}
