import PeripheralCore
import PeripheralTesting
import Testing

@testable import PeripheralKit

/// The text that `print` shows for values of a session.
@Suite(.timeLimit(.minutes(1)))
struct DescriptionTests {
    private static let central = Central(
        address: .numbered(1),
        addressKind: .random,
        isBonded: true,
        mtu: 185
    )
    private static let subscription = Subscription(
        characteristic: 0x2A19,
        central: central,
        kind: .notification,
        handle: 3
    )
    private static let subscriber = RestoredSubscriber(
        central: central,
        characteristic: 0x2A19,
        kind: .indication,
        since: .seconds(5),
        status: .mustSubscribeAgain,
        identity: nil
    )
    private static let problem = RestorationProblem(
        .restore,
        RestorationError(code: .damaged, message: "The state is damaged."),
        setAside: "/var/lib/door.damaged"
    )

    @Test func aCentralShowsItsAddressAndItsLink() {
        #expect("\(Self.central)" == "C0:FF:EE:00:00:01 (random, bonded, MTU 185)")
        #expect("\(Central(address: .numbered(1)))" == "C0:FF:EE:00:00:01 (MTU 23)")
        let renamed = Central(address: .numbered(1), id: Central.ID(address: .numbered(2)))
        #expect("\(renamed)" == "C0:FF:EE:00:00:01 (MTU 23, identified by C0:FF:EE:00:00:02)")
    }

    @Test func aSubscriptionShowsItsKindAndItsCentral() {
        #expect(
            "\(Self.subscription)"
                == "notifications of characteristic 2a19 to C0:FF:EE:00:00:01 (random, bonded, MTU 185)"
        )
        let unknown = Subscription(characteristic: 0x2A19, central: nil, kind: nil, handle: 3)
        #expect("\(unknown)" == "updates of characteristic 2a19 to an unknown central")
    }

    @Test(arguments: [
        (SessionEvent.connected(central), "connected: C0:FF:EE:00:00:01 (random, bonded, MTU 185)"),
        (.changed(central), "changed: C0:FF:EE:00:00:01 (random, bonded, MTU 185)"),
        (
            .disconnected(central, reason: DisconnectionReason(code: 0x08)),
            "disconnected: C0:FF:EE:00:00:01 (random, bonded, MTU 185), the link was lost (0x08)"
        ),
        (
            .subscribed(subscription),
            "subscribed: notifications of characteristic 2a19 to C0:FF:EE:00:00:01 (random, bonded, MTU 185)"
        ),
        (
            .unsubscribed(subscription),
            "unsubscribed: notifications of characteristic 2a19 to C0:FF:EE:00:00:01 (random, bonded, MTU 185)"
        ),
        (.advertisementEnded(Advertisement(localName: "Lamp")), "advertisement ended: \"Lamp\""),
        (.advertisementEnded(Advertisement()), "advertisement ended: without a declared name"),
        (
            .restoredSubscriberChanged(subscriber),
            "restored subscriber changed: indications of characteristic 2a19 to C0:FF:EE:00:00:01 (random, "
                + "bonded, MTU 185), must subscribe again"
        ),
        (.handlesChanged, "handles changed"),
        (
            .restorationFailed(problem),
            "restoration failed: The state is damaged. It is set aside as /var/lib/door.damaged."
        ),
    ])
    func anEventIsOneLine(event: SessionEvent, text: String) {
        #expect("\(event)" == text)
    }

    @Test func changesAreOneLineEach() {
        var changes = DeclarationChanges()
        #expect("\(changes)" == "no changes")
        changes.added = [.init(service: 0x180F, characteristic: 0x2A19)]
        changes.moved = [.init(service: 0x180F), .init(service: 0x180A)]
        changes.invalidatesCaches = true
        #expect(
            "\(changes)" == """
                added characteristic 2a19 of service 180f
                moved service 180f
                moved service 180a
                centrals must discover the services again
                """
        )
        #expect(
            "\(DeclarationChanges.unknown)" == """
                changes are not known
                centrals must discover the services again
                """
        )
    }

    @Test func whatIsRestoredHasALineForEachPart() async throws {
        let lamp = Peripheral("Lamp", restorationIdentifier: "com.example.lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, .read) { Read { 7 } } }
        }
        let backend = InMemoryBackend()
        try await lamp.run(on: backend, logger: .silent) { _ in }
        let text = try await lamp.run(on: backend, logger: .silent) { session in
            try "\(#require(session.restored))"
        }
        #expect(text == "restored \"Lamp\" on adapter 02:AA:01:00:00:42\n  no changes")

        let nothing = RestoredState(
            nil,
            formerHandles: [:],
            persistentValues: [:],
            changes: .unknown,
            subscribers: [Self.subscriber],
            problems: [Self.problem]
        )
        #expect(
            "\(nothing)" == """
                nothing restored
                  changes are not known
                  centrals must discover the services again
                  subscriber: indications of characteristic 2a19 to C0:FF:EE:00:00:01 (random, bonded, MTU 185), \
                must subscribe again
                  problem: The state is damaged. It is set aside as /var/lib/door.damaged.
                """
        )
    }

    @Test func statisticsShowTheCountsThatAreNotZero() {
        var counters = UpdateCounters()
        let all = UpdateStatistics(characteristic: 0x2A19, central: nil, counters: counters)
        #expect("\(all)" == "characteristic 2a19 to all subscribers: no updates")
        (counters.queued, counters.sent, counters.waits) = (2, 16, 1)
        counters.count(wait: .milliseconds(500))
        let own = UpdateStatistics(characteristic: 0x2A19, central: Self.central.id, counters: counters)
        #expect(
            "\([own])"
                == "[characteristic 2a19 to C0:FF:EE:00:00:01: 2 queued, 16 sent, 1 waits, longest wait 0.5 "
                + "seconds]"
        )
    }
}
