import ArgumentParser
import ExampleSupport
import PeripheralBattery
import PeripheralKit

/// The battery of this device, for phones: the command line, the declaration and the run.
@main
struct DeviceBattery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-battery",
        abstract: "Tell centrals how full the battery of this device is.",
        discussion: """
            The level is that of the kernel's class power_supply. A device without a battery gets a simulated one.
            """
    )

    @Option(help: "The name under which centrals find the device.")
    var name = "Device battery"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let gauge = Gauge()
        let battery = BatteryService(level: gauge.level() ?? BatteryLevel(0))
        Terminal.print("This is \(gauge.source).")
        try await options.run(Peripheral(name) { battery }) { session in
            while true {
                // Drivers look at their batteries no more often themselves.
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
