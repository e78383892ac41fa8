import ArgumentParser
import ExampleSupport
import PeripheralKit

/// A lamp with a service of its own, which no specification knows: the declaration, and the run.
@main
struct CustomLamp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "custom-lamp",
        abstract: "Be a lamp that phones turn on and off, by a service of its own."
    )

    @Option(help: "The name under which centrals find the lamp.")
    var name = "Lamp"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let lamp = Lamp()
        let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
            Read { lamp.isOn }
            Write { isOn in lamp.set(isOn) }
            UserDescription("Lamp power")
        }
        let peripheral = Peripheral(name) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
        }
        try await options.run(peripheral) { session in
            for await isOn in lamp.changes {
                Terminal.print("lamp: \(isOn ? "on" : "off")")
                try await session.notify(power, isOn)
            }
        } emulated: { central in
            try await central.connect()
            try await central.subscribe(to: power)
            for isOn in [true, false] {
                try await central.write(power, isOn)
                let answer = try await central.nextUpdate(of: power)
                Terminal.print(
                    "phone: turned the lamp \(isOn ? "on" : "off"), and is told that it is \(answer ? "on" : "off")"
                )
            }
        }
    }
}
