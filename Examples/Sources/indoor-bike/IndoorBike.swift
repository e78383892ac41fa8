import ArgumentParser
import ExampleSupport
import PeripheralKit

/// The command line and the run of an indoor bike with a simulated rider.
@main
struct IndoorBike: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indoor-bike",
        abstract: "Act as an indoor bike with a simulated rider that centrals control.",
        discussion: """
            The Fitness Machine service for training apps: the power follows the app's setting, or the hills that the app \
            simulates. With --emulated, the rider's time runs ten times as fast.
            """
    )

    @Option(help: "The name under which centrals find the bike.")
    var name = "Indoor Bike"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let bike = Bike(name: name)
        let second: Duration = options.emulated != nil ? .milliseconds(100) : .seconds(1)
        try await options.run(bike.peripheral) { session in
            try await bike.ride(aSecondIn: second, over: session)
        } emulated: { phone in
            try await bike.train(with: phone)
        }
    }
}
