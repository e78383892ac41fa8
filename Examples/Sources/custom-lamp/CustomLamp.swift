import ArgumentParser
import ExampleSupport
import PeripheralKit
import PeripheralTesting

/// The command line of the lamp, and the actions of a virtual phone.
@main
struct CustomLamp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "custom-lamp",
        abstract: "Act as a lamp with a custom service that phones turn on and off."
    )

    @Option(help: "The name under which centrals find the lamp.")
    var name = "Lamp"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let lamp = LampService(lamp: Lamp())
        let pairing = Pairing.displayPasskey { passkey, _ in Display.show(passkey) }
        let peripheral = Peripheral(name, pairing: pairing) {
            lamp
            Advertisement(manufacturerData: [0x0059: [1, 2]])  // left out: derived from the services
        }
        try await options.run(peripheral) { phone in
            try await phone.connect()
            // The user of the phone types the passkey that the lamp shows.
            try await phone.pair(.enteringDisplayedPasskey)
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
