import Glibc
import Subprocess

/// The virtual machine that the runner runs in.
enum Rig {
    /// What the radio gives to the adapter.
    static let adapterAddress = "00:AA:01:00:00:42"

    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Gives an order that is answered with lines.
    ///
    /// - Returns: The lines; none when it was not carried out.
    static func ask(_ order: String) async -> [Substring] {
        guard let rig = environment("RIG_SRC") else { return [] }
        let outcome = try? await Subprocess.run(
            .name("sh"),
            arguments: Arguments([rig + "/ctl"] + order.split(separator: " ").map(String.init)),
            output: .string(limit: 8_000_000),
            error: .discarded
        )
        guard let outcome, outcome.terminationStatus.isSuccess else { return [] }
        return outcome.standardOutput.split(separator: "\n")
    }

    /// Gives orders, one after the other; `rig/ctl` tells which there are.
    ///
    /// - Returns: Whether all were carried out: what has ended by itself cannot be stopped, for one thing.
    @discardableResult
    static func order(_ orders: [String]) async -> Bool {
        guard let rig = environment("RIG_SRC") else { return false }
        var isDone = true
        for order in orders {
            let outcome = try? await Subprocess.run(
                .name("sh"),
                arguments: Arguments([rig + "/ctl"] + order.split(separator: " ").map(String.init)),
                output: .discarded,
                error: .discarded
            )
            isDone = isDone && outcome?.terminationStatus.isSuccess == true
        }
        return isDone
    }
}
