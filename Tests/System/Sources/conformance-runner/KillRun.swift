import Glibc
import PeripheralBlueZ
import PeripheralConformance
import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Kills a program at random moments while a central uses it, and judges what each start of it restores.
///
/// The program is this one, started with other arguments.
struct KillRun {
    private static let command = "--killed"
    private static let interval = Duration.milliseconds(500)

    private let seed: UInt64
    private let rounds: Int
    private let adapter: DeviceAddress

    init(seed: UInt64, rounds: Int, on adapter: DeviceAddress) {
        self.seed = seed
        self.rounds = rounds
        self.adapter = adapter
    }

    /// Where the program that is killed has its state; `nil` when this is not that program.
    static func stateDirectory(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[1] == command ? arguments[2] : nil
    }

    /// Is the program that is killed.
    static func runProgram(stateDirectory: String) async throws {
        try await CrashTestPeripheral.runAsProcess(
            on: .bluez,
            restoringFrom: StateDirectory(path: stateDirectory),
            savingEvery: interval
        )
    }

    /// Runs all rounds, and exits with the result.
    ///
    /// The result is success if each start restored what it has to. Returns `false` if the rounds could not
    /// run.
    func run(_ program: String) async throws -> Bool {
        var template = Array("/tmp/kills-XXXXXX".utf8CString)
        guard let directory = mkdtemp(&template).map({ String(cString: $0) }) else { return false }
        print("seed \(seed)")
        try await CentralPool.run(program) { pool in
            let twin = CrashTestPeripheral()
            let test = CrashTest(
                seed: seed,
                savingEvery: Self.interval,
                // The host of the virtual machine may stall for that long.
                tolerance: .seconds(3),
                longestUse: .seconds(2)
            )
            let central = BumbleCentral(of: twin.peripheral, on: adapter, from: pool)
            let outcome = await test.run(rounds: rounds, of: twin, with: central) {
                try CrashTestProcess(path: "/proc/self/exe", arguments: [Self.command, directory])
            } recover: { _ in
                await Self.restartCrashedDaemon()
            }
            for trouble in outcome.troubles { print("      bluetoothd has crashed, as is known: \(trouble)") }
            for failure in outcome.failures { print("FAIL  \(failure)") }
            print(outcome)
            fflush(nil)
            // Whatever is stuck must not hide it.
            exit(outcome.failures.isEmpty ? 0 : 1)
        }
        return false
    }

    /// Starts bluetoothd again if it has crashed, as it does at times when a request is not answered.
    private static func restartCrashedDaemon() async -> Bool {
        guard await !Rig.order(["check-bluetoothd"]) else { return false }
        return await Rig.order(["start-bluetoothd", "wait-ready"])
    }
}
