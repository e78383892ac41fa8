import Logging
import PeripheralDBus
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// When the pairing agent comes and goes, and what becomes of the adapter meanwhile.
@Suite(.timeLimit(.minutes(1)))
struct AgentRegistrationTests {
    private static func peripheral(_ pairing: Pairing) -> Peripheral {
        Peripheral("Pairing", pairing: pairing) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
    }

    private static let refusal = MethodError("org.bluez.Error.Failed", "No more agents")

    private static let sentence =
        "bluetoothd did not accept the pairing agent (org.bluez.Error.Failed: No more agents), so no central can pair. "
        + "See its log for the reason, or use 'pairing: .system' to leave pairing to the system's agent."

    private func expectCancellation(of run: Task<Void, any Error>) async {
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    private func expectRefusal(of run: Task<Void, any Error>) async {
        let failure = await #expect(throws: PeripheralError.self) { try await run.value }
        #expect(failure?.code == .rejected)
        #expect(failure?.message == Self.sentence)
    }

    @Test(arguments: [true, false]) func isThereBeforeAllElseAndAfterIt(isPairable: Bool) async throws {
        try await ScriptedDaemon.run(isPairable: isPairable, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.justWorks))
            try await daemon.accept("RegisterAgent", "RequestDefaultAgent")
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            #expect(daemon.pairable.history == (isPairable ? [true] : [false, true]))
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication", "UnregisterAgent")
            await expectCancellation(of: run)
            #expect(daemon.pairable.history == (isPairable ? [true] : [false, true, false]))
        }
    }

    @Test func leavesTheAdapterAloneWhereNobodyMayPair() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.none))
            try await daemon.accept("RegisterAgent", "RequestDefaultAgent")
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication", "UnregisterAgent")
            await expectCancellation(of: run)
            #expect(daemon.pairable.history == [false])
        }
    }

    /// bluetoothd makes the adapter pairable when it accepts an agent, unless another agent was there.
    @Test(arguments: [true, false]) func adapterIsPairableInTheWindowOnly(isPairable: Bool) async throws {
        try await ScriptedDaemon.run(isPairable: isPairable, scriptsAgents: true) { daemon in
            let (open, opens) = AsyncStream.makeStream(of: Bool.self)
            let run = daemon.start(Self.peripheral(.justWorks.onlyWhenAllowed())) { session in
                for await isOpen in open {
                    if isOpen {
                        try await session.allowPairing(for: .seconds(60))
                    } else {
                        try await session.disallowPairing()
                    }
                }
                try Task.checkCancellation()
            }
            try await daemon.accept("RegisterAgent", "RequestDefaultAgent")
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            let closed = isPairable ? [true, false] : [false]
            try await until { daemon.pairable.history == closed }
            opens.yield(true)
            try await until { daemon.pairable.history == closed + [true] }
            opens.yield(false)
            try await until { daemon.pairable.history == closed + [true, false] }
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication", "UnregisterAgent")
            await expectCancellation(of: run)
            #expect(daemon.pairable.history == closed + (isPairable ? [true, false, true] : [true, false]))
        }
    }

    // MARK: - Changes by others

    private func start(
        _ pairing: Pairing,
        on daemon: ScriptedDaemon,
        logger: Logger = .silent,
        clock: any Clock<Duration> = ManualClock(),
        settings: AdapterSettings = AdapterSettings()
    ) async throws -> Task<Void, any Error> {
        let run = daemon.start(Self.peripheral(pairing), logger: logger, clock: clock, settings: settings)
        try await daemon.accept("RegisterAgent", "RequestDefaultAgent")
        try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
        return run
    }

    private func end(_ run: Task<Void, any Error>, on daemon: ScriptedDaemon) async throws {
        run.cancel()
        try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication", "UnregisterAgent")
        await expectCancellation(of: run)
    }

    /// For example `PairableTimeout` in `main.conf`, or `bluetoothctl pairable off`.
    @Test(arguments: [true, false]) func changeByAnotherProgramIsUndone(isAllowed: Bool) async throws {
        try await ScriptedDaemon.run(isPairable: isAllowed, scriptsAgents: true) { daemon in
            let pairing: Pairing = isAllowed ? .justWorks : .justWorks.onlyWhenAllowed()
            let run = try await start(pairing, on: daemon)
            for round in 1...3 {
                await daemon.pairable.change(to: !isAllowed)
                try await until { daemon.pairable.history.count == 2 * round + 1 }
                #expect(daemon.pairable.history.last == isAllowed)
            }
            try await end(run, on: daemon)
            #expect(daemon.pairable.history.last == isAllowed)
        }
    }

    @Test func changeIsNotUndoneWhereTheAdapterIsLeftAlone() async throws {
        try await ScriptedDaemon.run(isPairable: true, scriptsAgents: true) { daemon in
            let run = try await start(.none, on: daemon)
            await daemon.pairable.change(to: false)
            try await end(run, on: daemon)
            #expect(daemon.pairable.history == [true, false, true])
        }
    }

    @Test func programsThatDisagreeStopAndTryAgainLater() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let (log, clock) = (LogRecorder(), ManualClock())
            let run = try await start(
                .justWorks.onlyWhenAllowed(),
                on: daemon,
                logger: log.logger,
                clock: clock
            )
            for period in 1...2 {
                while daemon.pairable.history.count < 6 * period {
                    await daemon.pairable.change(to: true)
                    try await until { daemon.pairable.history.last == false }
                }
                await daemon.pairable.change(to: true)
                try await until { log.lines.contains { $0.contains("makes the adapter pairable again") } }
                #expect(daemon.pairable.history.last == true)
                await clock.waitForSleeper()
                clock.advance(by: PairableCorrections.period)
                try await until { daemon.pairable.history.last == false }
            }
            #expect(log.lines.count { $0.contains("makes the adapter pairable again") } == 1)
            try await end(run, on: daemon)
        }
    }

    @Test(arguments: [true, false]) func theChoiceOfTheProgramWins(isPairable: Bool) async throws {
        try await ScriptedDaemon.run(isPairable: !isPairable, scriptsAgents: true) { daemon in
            let pairing: Pairing = isPairable ? .justWorks.onlyWhenAllowed() : .justWorks
            let run = try await start(
                pairing,
                on: daemon,
                settings: AdapterSettings(isPairable: isPairable)
            )
            await daemon.pairable.change(to: !isPairable)
            try await until { daemon.pairable.history.count == 4 }
            try await end(run, on: daemon)
            #expect(daemon.pairable.history == [!isPairable, isPairable, !isPairable, isPairable])
        }
    }

    /// bluetoothd refuses a change while the kernel carries out another one.
    @Test func aBusyDaemonIsAskedAgain() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            daemon.pairable.refuseChanges(3)
            let run = try await start(.justWorks, on: daemon, clock: ContinuousClock())
            #expect(daemon.pairable.history == [false, true])
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            let withdrawal = try await daemon.next("UnregisterAgent")
            // Here, bluetoothd makes the adapter pairable for the agent of another program.
            daemon.pairable.refuseChanges(3)
            withdrawal.reply.send()
            await expectCancellation(of: run)
            #expect(daemon.pairable.history == [false, true, false])
        }
    }

    @Test func isNotThereWhereTheSystemAsks() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.system))
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            await expectCancellation(of: run)
            #expect(daemon.pairable.history == [false])
        }
    }

    static let capabilities: [(Pairing, String)] = [
        (.none, "KeyboardOnly"),
        (.justWorks, "NoInputNoOutput"),
        (.displayPasskey { _, _ in }, "DisplayOnly"),
        (.enterPasskey { _ in nil }, "KeyboardOnly"),
        (.confirmNumber { _, _ in true }, "DisplayYesNo"),
        (.any(of: .justWorks, .displayPasskey { _, _ in }), "DisplayOnly"),
        (.any(of: .enterPasskey { _ in nil }, .justWorks), "KeyboardOnly"),
        (.any(of: .confirmNumber { _, _ in true }, .justWorks), "DisplayYesNo"),
        (.any(of: .confirmNumber { _, _ in true }, .displayPasskey { _, _ in }), "DisplayYesNo"),
        (.any(of: .displayPasskey { _, _ in }, .confirmNumber { _, _ in true }, .justWorks), "DisplayYesNo"),
        (
            .any(
                of: .enterPasskey { _ in nil },
                .confirmNumber { _, _ in true },
                .displayPasskey { _, _ in }
            ),
            "KeyboardDisplay"
        ),
    ]

    @Test(arguments: capabilities)
    func agentHasTheCapabilityOfTheDeclaredMethods(pairing: Pairing, capability: String) async throws {
        try await ScriptedDaemon.run(scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(pairing))
            let registration = try await daemon.next("RegisterAgent")
            #expect(registration.arguments.last?.string == capability)
            registration.reply.send()
            try await daemon.accept("RequestDefaultAgent", "RegisterApplication", "RegisterAdvertisement")
            run.cancel()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication", "UnregisterAgent")
            await expectCancellation(of: run)
        }
    }

    // MARK: - Refusals

    @Test func refusedAgentLeavesNothingBehind() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.justWorks))
            try await daemon.next("RegisterAgent").reply.fail(Self.refusal)
            await expectRefusal(of: run)
            #expect(daemon.pairable.history == [false])
        }
    }

    @Test func agentThatIsNotAskedIsWithdrawn() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.justWorks))
            try await daemon.accept("RegisterAgent")
            try await daemon.next("RequestDefaultAgent").reply.fail(Self.refusal)
            try await daemon.accept("UnregisterAgent")
            await expectRefusal(of: run)
            #expect(daemon.pairable.history == [false])
        }
    }

    @Test func refusedServicesTakeTheAgentWithThem() async throws {
        try await ScriptedDaemon.run(isPairable: false, scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.justWorks))
            try await daemon.accept("RegisterAgent", "RequestDefaultAgent")
            try await daemon.next("RegisterApplication").reply.fail(Self.refusal)
            try await daemon.accept("UnregisterAgent")
            let failure = await #expect(throws: PeripheralError.self) { try await run.value }
            #expect(failure?.message.hasPrefix("bluetoothd refused the services") == true)
            #expect(daemon.pairable.history == [false, true, false])
        }
    }

    @Test func whatHasNothingToSecureRunsWithoutAgent() async throws {
        try await ScriptedDaemon.run(scriptsAgents: true) { daemon in
            let log = LogRecorder()
            let run = daemon.start(Self.peripheral(.none), logger: log.logger)
            try await daemon.next("RegisterAgent").reply.fail(Self.refusal)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.stop(run)
            #expect(log.lines.count == 1)
            #expect(
                log.lines.first?.hasPrefix("warning: bluetoothd did not accept the agent that refuses")
                    == true
            )
        }
    }

    @Test func stopDuringItsRegistrationRegistersNothingElse() async throws {
        try await ScriptedDaemon.run(scriptsAgents: true) { daemon in
            let run = daemon.start(Self.peripheral(.justWorks))
            let registration = try await daemon.next("RegisterAgent")
            run.cancel()
            registration.reply.send()
            try await daemon.accept("RequestDefaultAgent", "UnregisterAgent")
            await expectCancellation(of: run)
        }
    }
}
