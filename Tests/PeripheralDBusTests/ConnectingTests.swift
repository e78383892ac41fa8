import PeripheralDBus
import Testing

/// What may go wrong before a connection stands.
@Suite(.timeLimit(.minutes(1)))
struct ConnectingTests {
    @Test func busThatGreetsAndHangsUpIsNotConnected() async throws {
        try await FakeBus.run(greeting: .followedByTheEnd) { bus, loop in
            let error = await #expect(throws: BusError.self) {
                try await BusConnection.connect(to: .address(bus.address), on: loop)
            }
            #expect(
                error == .connectionFailed(address: bus.address, reason: BusError.disconnected.description)
            )
        }
    }

    @Test func connectingCanBeCancelled() async throws {
        try await FakeBus.run(greeting: .none) { bus, loop in
            let connecting = Task { try await BusConnection.connect(to: .address(bus.address), on: loop) }
            #expect(await bus.events.next() == "the client greets")
            connecting.cancel()
            await #expect(throws: BusError.cancelled) { try await connecting.value }
            #expect(await bus.events.next() == "the client hangs up")
        }
    }

    @Test func connectingTakesNoLongerThanItMay() async throws {
        try await FakeBus.run(greeting: .none) { bus, loop in
            let error = await #expect(throws: BusError.self) {
                try await BusConnection.connect(
                    to: .address(bus.address),
                    on: loop,
                    timeout: .milliseconds(1)
                )
            }
            #expect(error == .connectionFailed(address: bus.address, reason: BusError.timedOut.description))
        }
    }
}
