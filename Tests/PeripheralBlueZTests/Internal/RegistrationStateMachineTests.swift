import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Every state with every event.
@Suite(.timeLimit(.minutes(1)))
struct RegistrationStateMachineTests {
    typealias Machine = RegistrationStateMachine
    typealias Event = Machine.Event
    typealias Action = Machine.Action

    private static let adapter = AdapterDescription(
        path: "/org/bluez/hci0",
        isPowered: true,
        isUsable: true,
        connectionsInterruptAdvertising: true
    )
    private static let path = adapter.path
    /// bluetoothd stays where it is.
    private static let refused = Machine.Failure(code: .rejected, message: "refused")
    private static let lost = Machine.Failure(code: .connectionLost, message: "lost")

    /// A state by the events that lead to it, and what comes of each further event that matters there.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var past: [Event]
        var reactions: [(event: Event, action: Action)]
    }

    private static let found = Event.foundAdapters([adapter])
    private static let published: [Event] = [found, .registeredApplication, .registeredAdvertisement]

    private static let withdrawsAdvertisement = Action.withdrawAdvertisement(adapter: path)
    private static let withdrawsApplication = Action.withdrawApplication(adapter: path)

    static let rows: [Row] = [
        Row(
            testDescription: "finding adapters",
            past: [],
            reactions: [
                (found, .registerApplication(adapter: path)),
                (
                    .foundAdapters([]),
                    .finish(
                        Machine.Failure(
                            code: .adapterUnavailable,
                            message: "bluetoothd knows no Bluetooth adapter; plug one in, or look with "
                                + "'bluetoothctl list' and 'rfkill'."
                        )
                    )
                ),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "finding adapters, asked to stop",
            past: [.stopRequested],
            reactions: [
                (found, .finish(nil)), (.foundAdapters([]), .finish(nil)),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "registering the application",
            past: [found],
            reactions: [
                (.registeredApplication, .registerAdvertisement(adapter: path)),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "registering the application, asked to stop",
            past: [found, .stopRequested],
            reactions: [
                (.registeredApplication, withdrawsApplication),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "registering the advertisement",
            past: [found, .registeredApplication],
            reactions: [
                (.registeredAdvertisement, .reportPublished),
                (.failed(refused), withdrawsApplication), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, asked to stop",
            past: [found, .registeredApplication, .stopRequested],
            reactions: [
                (.registeredAdvertisement, withdrawsAdvertisement),
                (.failed(refused), withdrawsApplication), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "published",
            past: published,
            reactions: [
                (.stopRequested, withdrawsAdvertisement),
                (.advertisementReleased, withdrawsApplication),
                (.connectionChanged, .renewAdvertisement(adapter: path)),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement",
            past: published + [.connectionChanged],
            reactions: [(.failed(refused), .finish(refused)), (.failed(lost), .finish(lost))]
        ),
        Row(
            testDescription: "renewing the advertisement, asked to stop",
            past: published + [.connectionChanged, .stopRequested],
            reactions: [
                (.renewedAdvertisement, withdrawsAdvertisement),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "published after a renewal",
            past: published + [.connectionChanged, .renewedAdvertisement],
            reactions: [
                (.stopRequested, withdrawsAdvertisement),
                (.advertisementReleased, withdrawsApplication),
                (.connectionChanged, .renewAdvertisement(adapter: path)),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(lost)),
            ]
        ),
        Row(
            testDescription: "withdrawing the advertisement",
            past: published + [.stopRequested],
            reactions: [
                (.withdrewAdvertisement, withdrawsApplication),
                (.advertisementReleased, withdrawsApplication),
                (.failed(refused), withdrawsApplication), (.failed(lost), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application",
            past: published + [.stopRequested, .withdrewAdvertisement],
            reactions: [
                (.withdrewApplication, .finish(nil)),
                (.failed(refused), .finish(nil)), (.failed(lost), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application after a refused advertisement",
            past: [found, .registeredApplication, .failed(refused)],
            reactions: [
                (.withdrewApplication, .finish(refused)),
                (.failed(refused), .finish(refused)), (.failed(lost), .finish(refused)),
            ]
        ),
        Row(
            testDescription: "finished",
            past: published + [.stopRequested, .withdrewAdvertisement, .withdrewApplication],
            reactions: []
        ),
    ]

    private static let events: [Event] = [
        found, .foundAdapters([]), .registeredApplication, .registeredAdvertisement, .withdrewAdvertisement,
        .withdrewApplication, .advertisementReleased, .connectionChanged, .renewedAdvertisement,
        .stopRequested, .failed(refused), .failed(lost),
    ]

    private static func machine(after past: [Event], selection: AdapterSelection = .firstPowered) -> Machine {
        var machine = Machine(selection: selection)
        _ = machine.start()
        for event in past { _ = machine.handle(event) }
        return machine
    }

    @Test(arguments: rows) func reactsToWhatMattersAndToNothingElse(row: Row) {
        for event in Self.events {
            var machine = Self.machine(after: row.past)
            let expected = row.reactions.first { $0.event == event }?.action
            #expect(machine.handle(event) == expected, "\(event)")
        }
    }

    @Test func beginsWithTheAdapters() {
        var machine = Machine(selection: .firstPowered)
        for event in Self.events { #expect(machine.handle(event) == nil) }
        #expect(machine.start() == .findAdapters)
    }

    @Test func legacyAdvertisingNeedsNoRenewal() {
        var adapter = Self.adapter
        adapter.connectionsInterruptAdvertising = false
        var machine = Self.machine(
            after: [.foundAdapters([adapter]), .registeredApplication, .registeredAdvertisement]
        )
        #expect(machine.handle(.connectionChanged) == nil)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    @Test func releasedAdvertisementEndsTheRun() {
        var machine = Self.machine(after: Self.published + [.advertisementReleased])
        let end = machine.handle(.withdrewApplication)
        guard case .finish(let failure) = end else {
            Issue.record("expected the end, got \(String(describing: end))")
            return
        }
        #expect(failure?.code == .connectionLost)
        #expect(failure?.message.hasPrefix("bluetoothd has withdrawn the advertisement") == true)
    }

    @Test func neverActsAfterTheEndWhateverHappens() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            var machine = Machine(selection: .firstPowered)
            var actions: [Action?] = [machine.start()]
            for _ in 0..<12 {
                guard let event = Self.events.randomElement(using: &generator) else { break }
                actions.append(machine.handle(event))
            }
            let ends = actions.indices.filter { if case .finish = actions[$0] { true } else { false } }
            #expect(ends.count <= 1)
            if let end = ends.first {
                #expect(actions[(end + 1)...].allSatisfy { $0 == nil })
            }
        }
    }
}
