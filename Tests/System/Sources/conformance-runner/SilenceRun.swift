import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Stops the link of one of two subscribers for some time, and examines when it recovers its rate.
///
/// Then stops the link again until it is lost, and examines whether the other subscriber receives updates
/// again. While the link is stopped, the other subscriber reads a value.
///
/// The kernel takes back the room of the lost link in the controller, but uses it only when it is given
/// something to send. A program that may observe the links sees that they are free; without `CAP_NET_RAW`, it
/// knows the end of the connection alone.
struct SilenceRun {
    private static let silence = Duration.seconds(8)
    /// How long a response may take beside the silent link.
    private static let responseLimit = Duration.seconds(4)
    /// The time within which a link that returns has 80 % of its rate again, on an idle machine.
    private static let recoveryGoal = Duration.seconds(2)
    /// How long updates may take to go on, beside other machines on the same processors.
    private static let patience = Duration.seconds(40)

    private static let noArrivals = TestCentralError(
        code: .failed,
        message: "No update arrives over the link that will be stopped."
    )

    private let adapter: DeviceAddress
    private let rounds: Int

    init(on adapter: DeviceAddress, rounds: Int) {
        self.adapter = adapter
        self.rounds = rounds
    }

    /// Runs all rounds, and exits with the result.
    ///
    /// The result is success if the link recovered and updates continued in each round. Returns `false` if
    /// the rounds could not run.
    func run(_ program: String) async throws -> Bool {
        let value = Characteristic<UInt32>("c0f000c2-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .notify]) {
            Read { 0 }
        }
        let peripheral = Peripheral("Silence") {
            GATTService("c0f000c1-7e3c-4b6e-9d29-b3f1c0a1d001") { value }
        }
        try await CentralPool.run(program) { pool in
            try await peripheral.run(on: .bluez(recovery: .never)) { session in
                let staying = BumbleCentral(of: peripheral, on: adapter, from: pool)
                let leaving = staying.makeAnother()
                try await subscribe(staying, to: value)
                while session.subscriptions.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                let sending = Task {
                    var number: UInt32 = 0
                    while true {
                        // A central is always subscribed, so the queue fills and this loop ends.
                        while try session.update(value, number) { number += 1 }
                        try await session.readyToUpdate(value)
                    }
                }
                defer { sending.cancel() }
                var failed = 0
                for round in 1...rounds {
                    try await subscribe(leaving, to: value)
                    let before = try await resume(within: Self.patience)
                    let usual = try await arrivals(at: leaving, within: .seconds(2)) / 4
                    guard usual > 0 else { throw Self.noArrivals }
                    try Rig.radio("speed 1000000000 \(address(of: leaving))")
                    try await Task.sleep(for: Self.silence)
                    try Rig.radio("speed 2.5 \(address(of: leaving))")
                    let recovery = try await recovery(of: leaving, to: usual, within: Self.patience)
                    try Rig.radio("speed 1000000000 \(address(of: leaving))")
                    try await Task.sleep(for: Self.silence)
                    let start = ContinuousClock.now
                    let handle = try await staying.locate(value).valueHandle
                    let response = Task {
                        _ = try await staying.read(handle, offset: 0)
                        return ContinuousClock.now - start
                    }
                    try await Task.sleep(for: Self.responseLimit)
                    try Rig.radio("arrivals")
                    try Rig.radio("cut \(address(of: leaving))")
                    let after = try await resume(within: Self.patience)
                    try Rig.radio("speed 2.5")
                    // Without observation, the silent link has all the room of the controller.
                    let isLate = try await response.value > Self.responseLimit
                    let isFailed =
                        before == nil || after == nil || recovery == nil
                        || isLate && session.completionReporting == .observed
                    if isFailed { failed += 1 }
                    if let recovery {
                        let verdict = recovery <= Self.recoveryGoal ? "within" : "not within"
                        print(
                            "      a link that returned had its rate again after \(recovery), \(verdict) \(Self.recoveryGoal)"
                        )
                    }
                    let time = after.map { "go on after \($0) s" } ?? "have not gone on for \(Self.patience)"
                    print(
                        "\(isFailed ? "FAIL " : "ok   ") round \(round), \(session.completionReporting): updates \(time), a response was \(isLate ? "late" : "in time")"
                    )
                    fflush(nil)
                    try? await leaving.disconnect()
                }
                print("\(rounds - failed) passed, \(failed) failed")
                fflush(nil)
                exit(failed == 0 ? 0 : 1)
            }
        }
        return false
    }

    private func address(of central: BumbleCentral) -> String {
        CentralPool.address(place: central.place)?.description ?? ""
    }

    private func subscribe(_ central: BumbleCentral, to value: Characteristic<UInt32>) async throws {
        try await central.connect(mtu: 517, encrypting: true)
        try await central.subscribe(central.locate(value).valueHandle, to: .notification)
    }

    /// Returns the number of updates that arrive at a central in a time.
    private func arrivals(at central: BumbleCentral, within time: Duration) async throws -> Int {
        try Rig.radio("arrivals")
        try await Task.sleep(for: time)
        let address = address(of: central)
        return try Rig.radio("arrivals").count { $0.hasPrefix(address) }
    }

    /// Waits until 80 % of the usual number of updates arrive at a central in half a second.
    ///
    /// - Returns: The time until the end of that half second; `nil` if the limit has passed.
    private func recovery(
        of central: BumbleCentral,
        to usual: Int,
        within limit: Duration
    ) async throws -> Duration? {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < limit {
            let count = try await arrivals(at: central, within: .milliseconds(500))
            if count * 5 >= usual * 4 { return ContinuousClock.now - start }
        }
        return nil
    }

    /// Waits until the one that stays has got more than can have been on its way.
    ///
    /// - Returns: How many seconds that took; `nil` when it does not.
    private func resume(within limit: Duration) async throws -> Double? {
        try Rig.radio("arrivals")
        let staying = CentralPool.address(place: 0)?.description ?? ""
        let start = ContinuousClock.now
        var count = 0
        while ContinuousClock.now - start < limit {
            try await Task.sleep(for: .milliseconds(50))
            count += try Rig.radio("arrivals").count { $0.hasPrefix(staying) }
            if count > 300 { return (ContinuousClock.now - start) / .seconds(1) }
        }
        print("      \(count) have arrived")
        return nil
    }
}
