import ArgumentParser
import ExampleSupport
import PeripheralKit

/// The command line of a door lock that keeps its state when the program ends or is killed.
@main
struct DoorLock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "door-lock",
        abstract: "Act as a door lock that keeps its state when the program ends or is killed.",
        discussion: """
            The first phone can pair within two minutes after the start. A paired phone admits another one, and \
            --admit does so without it. The state is in $STATE_DIRECTORY, or in the state directory of the user. With \
            --emulated, no Bluetooth is needed: two virtual phones use the lock while its program is started, killed \
            and started again. The state of this scene is in a temporary directory.
            """
    )

    @Option(help: "The name under which centrals find the door.")
    var name = "Door"

    @Flag(help: "Let a phone pair in the first two minutes, although others have paired before.")
    var admit = false

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        if options.emulated != nil {
            try await playScene(name: name, options)
        } else {
            try await runOnBlueZ(name: name, admitsAtStart: admit, options)
        }
    }
}

/// Serves the door to real centrals.
private func runOnBlueZ(name: String, admitsAtStart: Bool, _ options: RunOptions) async throws {
    let door = Door(name: name, admitsAtStart: admitsAtStart) { isLocked in
        Terminal.print("door:   the bolt moves: \(isLocked ? "locked" : "unlocked")")
    } onRestore: { restored in
        for line in restored.summary { Terminal.print("door:   \(line)") }
    }
    try await options.run(door.peripheral) { session in
        let state = try session.value(of: door.isLocked) ? "locked" : "unlocked"
        Terminal.print("door:   on the air, \(state)")
        for await _ in session.events {}
    }
}

extension RestoredState {
    /// The restored state and its problems, one per line.
    var summary: [String] {
        guard !isEmpty else { return problems.map(\.description) }
        let changes =
            changes.invalidatesCaches
            ? "phones must discover the services again" : "phones find the services where they were"
        return ["the state of \(name ?? "the door") is restored; \(changes)"]
            + subscribers.map { "phone \($0.central.address) will get the entries that it has missed" }
            + problems.map(\.description)
    }
}
