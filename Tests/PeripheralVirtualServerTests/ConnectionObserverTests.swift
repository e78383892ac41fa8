import PeripheralCore
import PeripheralKit
import PeripheralTesting
import PeripheralVirtualServer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConnectionObserverTests {
    private final class Observer: Sendable {
        private let events = Mutex<[ConnectionEvent]>([])

        var observed: [ConnectionEvent] { events.withLock(\.self) }

        func note(_ event: ConnectionEvent) {
            events.withLock { $0.append(event) }
        }
    }

    @Test func eachObserverReceivesEventsUntilItIsRemoved() throws {
        let fixture = try ServerFixture(.read)
        let (first, second) = (Observer(), Observer())
        let id = fixture.server.observeConnections { first.note($0) }
        _ = fixture.server.observeConnections { second.note($0) }
        let connection = try fixture.connect()
        let central = try #require(fixture.server.centrals.first)
        #expect(first.observed == [.connected(central)])
        fixture.server.stopObserving(id)
        fixture.server.disconnect(connection)
        #expect(first.observed == [.connected(central)])
        #expect(second.observed == [.connected(central), .disconnected(central, .byThisDevice)])
    }

    @Test func anObserverFirstReceivesThePresentCentrals() throws {
        let fixture = try ServerFixture(.read)
        _ = try fixture.connect()
        let gone = try fixture.connect()
        _ = try fixture.connect()
        fixture.server.disconnect(gone)
        let observer = Observer()
        _ = fixture.server.observeConnections { observer.note($0) }
        #expect(observer.observed == fixture.server.centrals.map { .connected($0) })
        #expect(observer.observed.count == 2)
    }
}
