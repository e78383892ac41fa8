internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Pairing while the user of the peripheral has not answered.
extension ConformanceSuite {
    static let unansweredPairing: [Scenario] = [
        personNeverAnswers, centralLeavesWhilePersonIsAsked, centralDeclinesWhilePersonIsAsked,
    ]

    /// A user of the peripheral that does not answer at first.
    private struct Hesitation: Sendable {
        let isOver = Flag()
        let asked = Recorder<Void>()
        /// The handler's task was cancelled.
        let cancelled = Flag()

        var pairing: Pairing {
            .confirmNumber { _, _ in
                guard !isOver.isSet else { return true }
                asked.record(())
                do {
                    _ = try await Recorder<Void>().next()
                } catch {
                    cancelled.set(true)
                    throw error
                }
                return false
            }
        }
    }

    /// Creates a run in which pairing fails until the body ends, and then succeeds.
    private static func hesitationRun(
        _ user: PairingUser,
        _ body: @escaping @Sendable (any TestCentral, Hesitation, ManualClock?) async throws -> Void
    ) -> ScenarioRun {
        let secret = Characteristic<UInt8>(ScenarioUUID.value, .read, security: .authenticated) { Read { 7 } }
        let hesitation = Hesitation()
        let peripheral = Peripheral("Hesitant", pairing: hesitation.pairing) {
            GATTService(ScenarioUUID.service) { secret }
        }
        return ScenarioRun(timed: peripheral) { central, _, clock in
            async let end: Void = expectEnd(of: central, pairingAs: user)
            try await hesitation.asked.next()
            try await body(central, hesitation, clock)
            try await end
            try await expectCancellation(of: hesitation)
            hesitation.isOver.set(true)
            try await central.connect()
            try await expectRefusal(of: "read", by: .insufficientAuthentication) {
                try await central.read(secret)
            }
            try await central.pair(.confirming())
            try expect("value", try await central.read(secret), is: 7)
        }
    }

    /// Waits until the handler's task is cancelled.
    ///
    /// The limit is the time that a stack needs to report a disconnection.
    private static func expectCancellation(of hesitation: Hesitation) async throws {
        let patience = ContinuousClock.now + .seconds(4)
        while !hesitation.cancelled.isSet {
            guard .now < patience else {
                throw ConformanceFailure(description: "handler: expected its task to be cancelled.")
            }
            await Task.yield()
        }
    }

    static let personNeverAnswers = Scenario("a central is refused when the person does not answer in time") {
        hesitationRun(.confirming()) { _, hesitation, clock in
            try await clock?.advance(until: "the question is over") { hesitation.cancelled.isSet }
        }
    }

    static let centralLeavesWhilePersonIsAsked = Scenario(
        "a central that leaves while the person is asked can pair the next time"
    ) {
        hesitationRun(.confirming()) { central, _, _ in
            try await central.disconnect()
        }
    }

    static let centralDeclinesWhilePersonIsAsked = Scenario(
        "a central that declines while the person is asked can pair the next time"
    ) {
        let isAsked = Recorder<Void>()
        let declining = PairingUser.confirming { _ in
            _ = try? await isAsked.next()
            return false
        }
        return hesitationRun(declining) { _, _, _ in isAsked.record(()) }
    }
}
