import BusTestSupport
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// A bus that fails, or omits signals, at the worst moment.
@Suite(.timeLimit(.minutes(3)))
struct BusLossTests {
    /// BlueZ on a loop of the test's.
    private struct Backend: PeripheralBackend {
        let bluez: BlueZBackend
        let loop: EventLoop

        func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
            try await bluez.serve(publication, for: host, on: loop)
        }
    }

    /// One whose way to the air has every kind of step.
    private static func makePeripheral() -> Peripheral {
        Peripheral("Phoenix", pairing: .displayPasskey { _, _ in }) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
    }

    // MARK: - Wherever it is lost

    @Test func comesBackFromALossBehindEachReply() async throws {
        try await loseBus { .behind(reply: $0) }
    }

    @Test func comesBackFromALossWithinEachReply() async throws {
        try await loseBus { .within(reply: $0) }
    }

    /// Loses the bus at the first reply, the second, and so on, until the peripheral is on the air without a
    /// loss.
    private func loseBus(at cut: (Int) -> BusProxy.Cut) async throws {
        // The greeting, the watches, the adapter, its alias, the centrals, the agent, the application, the
        // advertisement.
        let least = 12
        try await withEmulatedBlueZ { bluez in
            var reply = 1
            while try await comesBack(on: bluez, cutting: cut(reply)) { reply += 1 }
            #expect(reply > least)
        }
    }

    /// - Returns: Whether the peripheral is on the air again after a loss; false when it has got there
    ///   without.
    private func comesBack(on bluez: EmulatedBlueZ, cutting cut: BusProxy.Cut) async throws -> Bool {
        var isBack = false
        try await BusProxy.run(to: bluez.busAddress, cutting: cut) { proxy, loop in
            let peripheral = Self.makePeripheral()
            let backend = BlueZBackend(
                settings: AdapterSettings(alias: .named("\(cut)")),
                bus: .address(proxy.address)
            )
            let run = Task {
                try await peripheral.run(on: Backend(bluez: backend, loop: loop), logger: .silent)
            }
            let states = peripheral.states
            let isOnTheAir = Task {
                for await state in states where state.isOnTheAir { return true }
                return false
            }
            // Less than the minute after which it would come back in any case.
            let limit = Task {
                try await Task.sleep(for: .seconds(50))
                isOnTheAir.cancel()
            }
            try #require(await isOnTheAir.value, "never on the air again: \(cut)")
            limit.cancel()
            isBack = await proxy.hasCut
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
        }
        return isBack
    }

    // MARK: - Without a signal that bluetoothd runs

    private func withPeripheral(
        on bluez: EmulatedBlueZ,
        _ body: (BusProxy, ManualClock, Peripheral) async throws -> Void
    ) async throws {
        try await BusProxy.run(to: bluez.busAddress) { proxy, loop in
            let peripheral = Self.makePeripheral()
            let clock = ManualClock()
            let backend = BlueZBackend(bus: .address(proxy.address), clock: clock)
            let run = Task {
                try await peripheral.run(on: Backend(bluez: backend, loop: loop), logger: .silent)
            }
            try await body(proxy, clock, peripheral)
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
        }
    }

    @Test func aBusThatTellsNothingIsFoundOutWithinAMinute() async throws {
        try await withEmulatedBlueZ { bluez in
            try await withPeripheral(on: bluez) { proxy, clock, peripheral in
                var states = peripheral.states.makeAsyncIterator()
                try await states.reach(isOnTheAir: true)
                await bluez.killDaemon()
                try await states.reach(isOnTheAir: false, SupervisorStateMachine.Failure.noDaemon.message)
                try await until { clock.sleeperCount == 1 }
                let count = await proxy.connectionCount
                // It does not run, and is not started by the question.
                for number in 1...3 {
                    clock.advance(by: .seconds(60))
                    try await until { clock.sleeperCount == 1 }
                    #expect(await proxy.connectionCount == count + number)
                }
                await proxy.silence()
                try await bluez.startDaemon()
                clock.advance(by: .seconds(59))
                #expect(clock.sleeperCount == 1)
                clock.advance(by: .seconds(1))
                try await states.reach(isOnTheAir: true)
                // That which asks, and the new one of the peripheral.
                #expect(await proxy.connectionCount == count + 5)
            }
        }
    }

    @Test func nothingIsLookedUpWhileBluetoothdRuns() async throws {
        try await withEmulatedBlueZ(.init(adapters: [])) { bluez in
            try await withPeripheral(on: bluez) { proxy, clock, peripheral in
                var states = peripheral.states.makeAsyncIterator()
                // bluetoothd reports every change of its adapters.
                let noAdapter = "bluetoothd has no Bluetooth adapter. Plug one in, or run "
                try await states.reach(isOnTheAir: false, noAdapter + "'bluetoothctl list' and 'rfkill'.")
                // If this state lasts, the framework logs it.
                try await until { clock.sleeperCount == 1 }
                clock.advance(by: .seconds(2))
                for _ in 0..<100 {
                    clock.advance(by: .seconds(60))
                    await Task.yield()
                }
                #expect(clock.sleeperCount == 0)
                try await bluez.addAdapter("hci0")
                try await states.reach(isOnTheAir: true)
                #expect(clock.sleeperCount == 0)
                #expect(await proxy.connectionCount == 1)
                await bluez.killDaemon()
                try await states.reach(isOnTheAir: false, SupervisorStateMachine.Failure.noDaemon.message)
                try await until { clock.sleeperCount == 1 }
                // The end of the waiting is the end of looking.
                try await bluez.startDaemon()
                try await states.reach(isOnTheAir: true)
                #expect(clock.sleeperCount == 0)
            }
        }
    }
}

extension AsyncIteratorProtocol where Element == PeripheralState {
    fileprivate mutating func reach(
        isolation: isolated (any Actor)? = #isolation,
        isOnTheAir: Bool,
        _ reason: String? = nil
    ) async throws {
        while let state = try await next(isolation: isolation) {
            if state.isOnTheAir == isOnTheAir, state.reason == reason { return }
        }
        throw CancellationError()
    }
}
