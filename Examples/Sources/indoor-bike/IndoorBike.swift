import ArgumentParser
import ExampleSupport
import PeripheralKit

/// An indoor bike with a simulated rider: the command line and the run.
@main
struct IndoorBike: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indoor-bike",
        abstract: "Be an indoor bike with a simulated rider, which centrals control.",
        discussion: """
            The Fitness Machine service, as training apps know it: the power follows what an app sets, or the hills that it \
            simulates. With --emulated, ten seconds of the rider pass in one.
            """
    )

    @Option(help: "The name under which centrals find the bike.")
    var name = "Indoor Bike"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let bike = Bike(name: name)
        let second: Duration = options.emulated ? .milliseconds(100) : .seconds(1)
        try await options.run(bike.peripheral) { session in
            try await bike.ride(aSecondIn: second, over: session)
        } emulated: { phone in
            try await bike.train(with: phone)
        }
    }
}
