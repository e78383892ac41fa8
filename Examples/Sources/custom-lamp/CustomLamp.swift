import ArgumentParser
import ExampleSupport
import PeripheralKit
import PeripheralTesting

/// The command line of the lamp, and the actions of a virtual phone.
@main
struct CustomLamp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "custom-lamp",
        abstract: "Be a lamp with a custom service that phones turn on and off."
    )

    @Option(help: "The name under which centrals find the lamp.")
    var name = "Lamp"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let display = Display()
        let lamp = LampPeripheral(name, lamp: Lamp(), display: display)
        try await options.run(lamp.peripheral) { session in
            try await lamp.serve(session)
        } emulated: { phone in
            try await phone.connect()
            // The user of the phone types the passkey that the lamp shows.
            try await phone.pair(.entering { await display.passkeys.first { _ in true } })
            try await phone.subscribe(to: lamp.power)
            for isOn in [true, false] {
                try await phone.write(lamp.power, isOn)
                let answer = try await phone.nextUpdate(of: lamp.power)
                Terminal.print(
                    "phone: turned the lamp \(isOn ? "on" : "off"), and is notified that it is \(answer ? "on" : "off")"
                )
            }
        }
    }
}
