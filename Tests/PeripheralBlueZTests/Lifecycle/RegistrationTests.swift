import BusTestSupport
import Logging
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// What happens while bluetoothd takes its time.
@Suite(.timeLimit(.minutes(1)))
struct RegistrationTests {
    private static let peripheral = Peripheral("Slow") {
        GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
    }

    private func failure(of run: Task<Void, any Error>) async -> PeripheralError? {
        await #expect(throws: PeripheralError.self) { try await run.value }
    }

    // MARK: - Losses

    struct Loss: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: PeripheralError.Code
        var happen: @Sendable (ScriptedDaemon) async throws -> Void
    }

    static let losses = [
        // The call stays without an answer, as it would not if the program behind the name were gone as well.
        Loss(testDescription: "bluetoothd", code: .connectionLost) {
            try await $0.connection.releaseOwnName("org.bluez")
        },
        Loss(testDescription: "the adapter", code: .adapterUnavailable) { try await $0.loseAdapter() },
        Loss(testDescription: "the bus", code: .connectionLost) { $0.bus.bus.kill() },
    ]

    @Test(arguments: losses) func lossDuringTheRegistrationIsSeenAtOnce(loss: Loss) async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            let unanswered = try await daemon.next("RegisterApplication")
            try await loss.happen(daemon)
            #expect(await failure(of: run)?.code == loss.code)
            unanswered.reply.send()
        }
    }

    @Test(arguments: losses) func lossDuringARenewalIsSeenAtOnce(loss: Loss) async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.changeConnection()
            try await daemon.accept("UnregisterAdvertisement")
            let unanswered = try await daemon.next("RegisterAdvertisement")
            try await loss.happen(daemon)
            #expect(await failure(of: run)?.code == loss.code)
            unanswered.reply.send()
        }
    }

    // MARK: - Recovery

    /// A central may come as soon as the services are there.
    @Test func centralsOfARegistrationThatIsLostHalfwayAreGone() async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral, recovery: .always) { session in
                #expect(session.centrals.isEmpty)
            }
            try await daemon.accept("RegisterApplication")
            let advertisement = try await daemon.next("RegisterAdvertisement")
            try await daemon.changeConnection()
            try await daemon.connection.releaseOwnName("org.bluez")
            advertisement.reply.send()
            try await daemon.connection.requestName("org.bluez")
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            try await run.value
        }
    }

    @Test func servicesThatAreRefusedForAWhileAreRegisteredThen() async throws {
        try await ScriptedDaemon.run { daemon in
            let (log, clock) = (LogRecorder(), ManualClock())
            let peripheral = Peripheral("Slow") {
                GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            }
            let run = daemon.start(peripheral, recovery: .always, logger: log.logger, clock: clock) { _ in }
            var states = peripheral.states.makeAsyncIterator()
            for _ in 1...3 {
                let application = try await daemon.next("RegisterApplication")
                application.reply.fail(MethodError("org.bluez.Error.AlreadyExists", "Already Exists"))
                await clock.waitForSleeper()
                clock.advance(by: .seconds(10))
            }
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            try await run.value
            let reason = "bluetoothd refused the services (org.bluez.Error.AlreadyExists: Already Exists)"
            while let state = try await states.next(), state.reason?.hasPrefix(reason) != true {}
            #expect(log.lines.count == 1)
        }
    }

    // MARK: - Handles

    /// Where the program demands its first service to stand.
    private func demand(_ call: ScriptedDaemon.Call, to daemon: ScriptedDaemon) async throws -> UInt16? {
        let answer = try await daemon.connection.call(
            call.program,
            "/peripheral/service0000",
            .properties,
            "Get",
            [.string("org.bluez.GattService1"), .string("Handle")]
        )
        return answer.first?.integer()
    }

    /// A refusal that bluetoothd repeats, and where the service is tried then, at first where it was.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var demands: [UInt16]
    }

    static let refusals = [
        Refusal(testDescription: "No object received", demands: [0x100]),
        Refusal(
            testDescription: "Failed to create entry in database",
            demands: [0x100, 0x100, 0x100, 0x130, 0x160, 0x190, 0x1C0, 0x1F0, 0x220, 0x250, 0x280, 0]
        ),
    ]

    @Test(arguments: refusals) func handlesAreDemandedAgainAfterARefusal(_ refusal: Refusal) async throws {
        try await ScriptedDaemon.run { daemon in
            let clock = ManualClock()
            let peripheral = Peripheral("Restored", restorationIdentifier: "com.example.restored") {
                GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            }
            let run = daemon.start(
                peripheral,
                recovery: .always,
                restoringFrom: InMemoryRestorationStore(),
                clock: clock
            ) { _ in }
            for handle in refusal.demands {
                let application = try await daemon.next("RegisterApplication")
                #expect(try await demand(application, to: daemon) == handle)
                application.reply.fail(MethodError("org.bluez.Error.Failed", refusal.testDescription))
            }
            await clock.waitForSleeper()
            clock.advance(by: .seconds(10))
            let application = try await daemon.next("RegisterApplication")
            #expect(try await demand(application, to: daemon) == 0x100)
            application.reply.send()
            try await daemon.accept("RegisterAdvertisement")
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            try await run.value
        }
    }

    // MARK: - Stopping

    @Test func stopDuringTheRegistrationOfTheServicesPutsNothingOnTheAir() async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            let application = try await daemon.next("RegisterApplication")
            run.cancel()
            application.reply.send()
            try await daemon.accept("UnregisterApplication")
            await #expect(throws: CancellationError.self) { try await run.value }
        }
    }

    @Test func stopDuringTheRegistrationOfTheAdvertisementWithdrawsBoth() async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            try await daemon.accept("RegisterApplication")
            let advertisement = try await daemon.next("RegisterAdvertisement")
            run.cancel()
            advertisement.reply.send()
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            await #expect(throws: CancellationError.self) { try await run.value }
        }
    }

    @Test func stopDuringARenewalDoesNotRenew() async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.changeConnection()
            let withdrawal = try await daemon.next("UnregisterAdvertisement")
            run.cancel()
            withdrawal.reply.send()
            try await daemon.accept("UnregisterApplication")
            await #expect(throws: CancellationError.self) { try await run.value }
        }
    }

    /// Returns the smallest interval of the advertisement that the program registers, in milliseconds.
    private func interval(_ call: ScriptedDaemon.Call, to daemon: ScriptedDaemon) async throws -> Int? {
        let path = try #require(call.arguments.first?.objectPath)
        let interface: [BusValue] = [.string("org.bluez.LEAdvertisement1")]
        let answer = try await daemon.connection.call(call.program, path, .properties, "GetAll", interface)
        return answer.first?["MinInterval"]?.integer()
    }

    @Test func advertisementIsRegisteredWithoutTheDefaultIntervalThatBluetoothdRefuses() async throws {
        try await ScriptedDaemon.run(isExperimental: true) { daemon in
            let log = LogRecorder()
            let run = daemon.start(Self.peripheral, logger: log.logger)
            try await daemon.accept("RegisterApplication")
            let first = try await daemon.next("RegisterAdvertisement")
            #expect(try await interval(first, to: daemon) == 100)
            first.reply.fail(ScriptedDaemon.refusal)
            try await daemon.accept("UnregisterAdvertisement")
            let second = try await daemon.next("RegisterAdvertisement")
            #expect(try await interval(second, to: daemon) == nil)
            second.reply.send()
            try await daemon.stop(run)
            #expect(log.lines == [])
        }
    }

    @Test func advertisementWithAnIntervalOfTheProgramIsNotRegisteredWithoutIt() async throws {
        let interval = AdvertisingInterval.between(.milliseconds(500), and: .milliseconds(600))
        let peripheral = Peripheral("Slow") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(interval: interval)
        }
        try await ScriptedDaemon.run(isExperimental: true) { daemon in
            let run = daemon.start(peripheral)
            try await daemon.accept("RegisterApplication")
            let call = try await daemon.next("RegisterAdvertisement")
            #expect(try await self.interval(call, to: daemon) == 500)
            call.reply.fail(ScriptedDaemon.refusal)
            try await daemon.accept("UnregisterAdvertisement", "UnregisterApplication")
            #expect(await failure(of: run)?.code == .rejected)
        }
    }

    /// bluetoothd crashes if an advertisement is withdrawn while it is being changed.
    @Test func advertisementIsNotWithdrawnRightAfterAChange() async throws {
        try await ScriptedDaemon.run { daemon in
            let start = ContinuousClock.now
            let run = daemon.start(Self.peripheral) { session in
                try await session.changeAdvertisement { $0.localName = "Slower" }
            }
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            let call = try await daemon.next("UnregisterAdvertisement")
            #expect(start.duration(to: .now) >= AdvertisementRegistrations.timeToWithdrawal)
            call.reply.send()
            try await daemon.accept("UnregisterApplication")
            try await run.value
        }
    }

    // MARK: - Renewal

    @Test func renewalThatFailsIsToldAndTriedAgain() async throws {
        try await ScriptedDaemon.run { daemon in
            let (log, clock) = (LogRecorder(), ManualClock())
            let run = daemon.start(Self.peripheral, logger: log.logger, clock: clock)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.changeConnection()
            for seconds in [1, 2] {
                try await daemon.accept("UnregisterAdvertisement")
                try await daemon.next("RegisterAdvertisement").reply.fail(ScriptedDaemon.refusal)
                await clock.waitForSleeper()
                clock.advance(by: .seconds(seconds))
            }
            try await daemon.accept("UnregisterAdvertisement", "RegisterAdvertisement")
            try await daemon.stop(run)
            #expect(
                log.lines
                    == [
                        "warning: An advertisement is off the air. The backend repeats the registration "
                            + "until bluetoothd accepts it. [bluetoothd refused the advertisement (org.bluez.Error.Failed: Failed to "
                            + "register advertisement). Reason: the advertisement uses 7 of 31 bytes, and 6 of 31 in the scan response. The "
                            + "kernel or the controller refuses it. See bluetoothd's log for the reason.]"
                    ]
            )
        }
    }

    @Test func nextCentralBringsTheRenewalForward() async throws {
        try await ScriptedDaemon.run { daemon in
            let clock = ManualClock()
            let run = daemon.start(Self.peripheral, clock: clock)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.changeConnection()
            try await daemon.accept("UnregisterAdvertisement")
            try await daemon.next("RegisterAdvertisement").reply.fail(ScriptedDaemon.refusal)
            await clock.waitForSleeper()
            try await daemon.changeConnection()
            try await daemon.accept("UnregisterAdvertisement", "RegisterAdvertisement")
            try await daemon.stop(run)
        }
    }

    @Test func changesDuringARenewalLeadToOneMore() async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            try await daemon.accept("RegisterApplication", "RegisterAdvertisement")
            try await daemon.changeConnection()
            try await daemon.accept("UnregisterAdvertisement")
            let renewal = try await daemon.next("RegisterAdvertisement")
            try await daemon.changeConnection(times: 500)
            renewal.reply.send()
            try await daemon.accept("UnregisterAdvertisement", "RegisterAdvertisement")
            try await daemon.stop(run)
        }
    }
}
