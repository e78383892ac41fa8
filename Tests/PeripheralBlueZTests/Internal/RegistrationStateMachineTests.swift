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
    private static let gone = Machine.Failure(code: .adapterUnavailable, message: "gone")

    /// A state by the events that lead to it, and what comes of each further event that matters there.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var past: [Event]
        var reactions: [(event: Event, action: Action)]
    }

    private static let prepared = [Event.registeredAgent]
    private static let registered = prepared + [.registeredApplication]
    private static let advertised = registered + [.registeredAdvertisements]
    private static let published = advertised + [.reportedPublication]
    private static let interrupting = published + [.connectionsChanged(1)]
    private static let renewing = interrupting + [.withdrewAdvertisements]
    private static let awaiting = renewing + [.failed(refused)]

    private static let awaitsRenewal = Action.awaitRenewal(
        after: .seconds(1),
        because: Machine.Failure(
            code: .connectionLost,
            message: "bluetoothd has withdrawn the advertisement; look into its log for the reason."
        )
    )
    private static let withdrawsAdvertisement = Action.withdrawAdvertisements(adapter: path)
    private static let withdrawsApplication = Action.withdrawApplication(adapter: path)
    private static let withdrawsAgent = Action.withdrawAgent(adapter: path)
    private static let advertises = Action.registerAdvertisements(adapter: path, [0])
    /// What is needed is gone, or a step found that out: the end of every step but a withdrawal.
    private static let ends: [(event: Event, action: Action)] = [
        (.lost(gone), .finish(gone)), (.failed(lost), .finish(lost)),
    ]

    static let rows: [Row] = [
        Row(
            testDescription: "registering the agent",
            past: [],
            reactions: ends + [
                (.registeredAgent, .registerApplication(adapter: path)), (.failed(refused), withdrawsAgent),
            ]
        ),
        Row(
            testDescription: "registering the agent, asked to stop",
            past: [.stopRequested],
            reactions: ends + [(.registeredAgent, withdrawsAgent), (.failed(refused), withdrawsAgent)]
        ),
        Row(
            testDescription: "registering the application",
            past: prepared,
            reactions: ends + [(.registeredApplication, advertises), (.failed(refused), withdrawsAgent)]
        ),
        Row(
            testDescription: "registering the application, asked to stop",
            past: prepared + [.stopRequested],
            reactions: ends + [
                (.registeredApplication, withdrawsApplication), (.failed(refused), withdrawsAgent),
            ]
        ),
        Row(
            testDescription: "registering the advertisement",
            past: registered,
            reactions: ends + [
                (.registeredAdvertisements, .reportPublication(adapter: path)),
                (.failed(refused), withdrawsApplication),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, asked to stop",
            past: registered + [.stopRequested],
            reactions: ends + [
                (.registeredAdvertisements, withdrawsAdvertisement), (.failed(refused), withdrawsApplication),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, which is released before the answer is seen",
            past: registered + [.advertisementReleased(0)],
            reactions: ends + [
                (.registeredAdvertisements, .reportPublication(adapter: path)),
                (.failed(refused), withdrawsApplication),
            ]
        ),
        Row(
            testDescription: "reporting the publication",
            past: advertised,
            reactions: ends + [(.failed(refused), withdrawsAdvertisement)]
        ),
        Row(
            testDescription: "reporting the publication, asked to stop",
            past: advertised + [.stopRequested],
            reactions: ends + [
                (.reportedPublication, withdrawsAdvertisement), (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "reporting the publication of what is released",
            past: advertised + [.advertisementReleased(0)],
            reactions: ends + [
                (.reportedPublication, awaitsRenewal), (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "reporting the publication, with a central there already",
            past: registered + [.connectionsChanged(1), .registeredAdvertisements],
            reactions: ends + [
                (.reportedPublication, withdrawsAdvertisement), (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "published",
            past: published,
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.advertisementReleased(0), awaitsRenewal),
                (.connectionsChanged(1), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "interrupting the advertisement",
            past: interrupting,
            reactions: ends + [(.withdrewAdvertisements, advertises), (.failed(refused), advertises)]
        ),
        Row(
            testDescription: "interrupting the advertisement, asked to stop",
            past: interrupting + [.stopRequested],
            reactions: ends + [
                (.withdrewAdvertisements, withdrawsApplication), (.failed(refused), withdrawsApplication),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement",
            past: renewing,
            reactions: ends + [(.failed(refused), .awaitRenewal(after: .seconds(1), because: refused))]
        ),
        Row(
            testDescription: "renewing the advertisement, asked to stop",
            past: renewing + [.stopRequested],
            reactions: ends + [
                (.registeredAdvertisements, withdrawsAdvertisement), (.failed(refused), withdrawsApplication),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement, which is released before the answer is seen",
            past: renewing + [.advertisementReleased(0)],
            reactions: ends + [
                (.registeredAdvertisements, awaitsRenewal),
                (.failed(refused), .awaitRenewal(after: .seconds(1), because: refused)),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement while centrals come and go",
            past: renewing + [.connectionsChanged(1), .connectionsChanged(1), .connectionsChanged(1)],
            reactions: ends + [
                (.registeredAdvertisements, withdrawsAdvertisement),
                (.failed(refused), .awaitRenewal(after: .seconds(1), because: refused)),
            ]
        ),
        Row(
            testDescription: "awaiting another renewal",
            past: awaiting,
            reactions: ends + [
                (.renewalIsDue, withdrawsAdvertisement), (.connectionsChanged(1), withdrawsAdvertisement),
                (.stopRequested, withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "published, without power",
            past: published + [.powerChanged(false)],
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.powerChanged(true), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "interrupting the advertisement, without power",
            past: interrupting + [.powerChanged(false)],
            reactions: ends
        ),
        Row(
            testDescription: "renewing the advertisement, without power",
            past: renewing + [.powerChanged(false)],
            reactions: ends
        ),
        Row(
            testDescription: "renewing the advertisement, which has lost its power for a moment",
            past: renewing + [.powerChanged(false), .powerChanged(true)],
            reactions: ends + [
                (.registeredAdvertisements, withdrawsAdvertisement),
                (.failed(refused), .awaitRenewal(after: .seconds(1), because: refused)),
            ]
        ),
        Row(
            testDescription: "without power after a refused renewal",
            past: renewing + [.powerChanged(false), .failed(refused)],
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.powerChanged(true), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "awaiting another renewal, without power",
            past: awaiting + [.powerChanged(false)],
            reactions: ends + [
                (.powerChanged(true), withdrawsAdvertisement), (.stopRequested, withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "published after a renewal",
            past: renewing + [.registeredAdvertisements],
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.advertisementReleased(0), awaitsRenewal),
                (.connectionsChanged(1), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "withdrawing the advertisement",
            past: published + [.stopRequested],
            reactions: [
                (.withdrewAdvertisements, withdrawsApplication),
                (.advertisementReleased(0), withdrawsApplication),
                (.failed(refused), withdrawsApplication), (.failed(lost), .finish(nil)),
                (.lost(gone), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application",
            past: published + [.stopRequested, .withdrewAdvertisements],
            reactions: [
                (.withdrewApplication, withdrawsAgent), (.failed(refused), withdrawsAgent),
                (.failed(lost), .finish(nil)), (.lost(gone), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application after a refused advertisement",
            past: registered + [.failed(refused)],
            reactions: [
                (.withdrewApplication, withdrawsAgent), (.failed(refused), withdrawsAgent),
                (.failed(lost), .finish(refused)), (.lost(gone), .finish(refused)),
            ]
        ),
        Row(
            testDescription: "withdrawing the agent",
            past: published + [.stopRequested, .withdrewAdvertisements, .withdrewApplication],
            reactions: [
                (.withdrewAgent, .finish(nil)), (.failed(refused), .finish(nil)),
                (.failed(lost), .finish(nil)), (.lost(gone), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the agent that was refused",
            past: [.failed(refused)],
            reactions: [
                (.withdrewAgent, .finish(refused)), (.failed(refused), .finish(refused)),
                (.failed(lost), .finish(refused)), (.lost(gone), .finish(refused)),
            ]
        ),
        Row(
            testDescription: "finished",
            past: published + [
                .stopRequested, .withdrewAdvertisements, .withdrewApplication, .withdrewAgent,
            ],
            reactions: []
        ),
    ]

    private static let events: [Event] = [
        .powerChanged(false), .powerChanged(true), .registeredAgent, .registeredApplication,
        .registeredAdvertisements,
        .reportedPublication,
        .renewalIsDue, .withdrewAdvertisements, .withdrewApplication, .withdrewAgent,
        .advertisementReleased(0),
        .connectionsChanged(1), .stopRequested, .failed(refused), .failed(lost), .lost(gone),
    ]

    private static func machine(after past: [Event], on adapter: AdapterDescription = adapter) -> Machine {
        var machine = Machine(on: adapter)
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

    @Test func beginsWithTheAgent() {
        var machine = Machine(on: Self.adapter)
        for event in Self.events { #expect(machine.handle(event) == nil) }
        #expect(machine.start() == .registerAgent(adapter: Self.path))
    }

    @Test func legacyAdvertisingNeedsNoRenewal() {
        let adapter = AdapterDescription(path: Self.path, isPowered: true, isUsable: true)
        var machine = Self.machine(
            after: [
                .registeredAgent, .registeredApplication, .connectionsChanged(1), .registeredAdvertisements,
                .reportedPublication,
            ],
            on: adapter
        )
        #expect(machine.handle(.connectionsChanged(1)) == nil)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    /// The advertisement that bluetoothd drops, wherever the news finds the machine: the services stay.
    @Test(arguments: [
        published + [.advertisementReleased(0)],
        advertised + [.advertisementReleased(0), .reportedPublication],
        renewing + [.advertisementReleased(0), .registeredAdvertisements],
    ]) func releasedAdvertisementIsRenewed(past: [Event]) {
        var machine = Self.machine(after: past)
        #expect(machine.isRegistered && !machine.isAdvertising)
        #expect(machine.handle(.renewalIsDue) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.failed(Self.refused)) == Self.advertises)
        #expect(machine.handle(.registeredAdvertisements) == nil)
        #expect(machine.isRegistered && machine.isAdvertising)
    }

    @Test func advertisesAgainWhenThePowerIsBack() {
        var machine = Self.machine(after: Self.published + [.powerChanged(false)])
        #expect(machine.isRegistered && !machine.isAdvertising)
        #expect(machine.handle(.powerChanged(true)) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == Self.advertises)
        #expect(machine.handle(.registeredAdvertisements) == nil)
        #expect(machine.isAdvertising)
    }

    @Test func advertisementReleasedAfterTheStopIsNoFailure() {
        var machine = Self.machine(after: Self.registered + [.stopRequested, .advertisementReleased(0)])
        #expect(machine.handle(.registeredAdvertisements) == Self.withdrawsApplication)
        #expect(machine.handle(.withdrewApplication) == Self.withdrawsAgent)
        #expect(machine.handle(.withdrewAgent) == .finish(nil))
    }

    @Test func changesDuringARenewalLeadToOneMore() {
        let changes = [Event](repeating: .connectionsChanged(1), count: 3)
        var machine = Self.machine(after: Self.renewing + changes)
        #expect(machine.handle(.registeredAdvertisements) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == Self.advertises)
        #expect(machine.handle(.registeredAdvertisements) == nil)
    }

    @Test func releaseOfTheWithdrawnAdvertisementIsForgotten() {
        var machine = Self.machine(
            after: Self.interrupting + [.advertisementReleased(0), .withdrewAdvertisements]
        )
        #expect(machine.handle(.registeredAdvertisements) == nil)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    @Test func renewalIsTriedLessAndLessOften() {
        var machine = Self.machine(after: Self.renewing)
        for seconds in [1, 2, 4, 8, 16, 30, 30, 30] {
            let wait = Action.awaitRenewal(after: .seconds(seconds), because: Self.refused)
            #expect(machine.handle(.failed(Self.refused)) == wait)
            #expect(machine.handle(.renewalIsDue) == Self.withdrawsAdvertisement)
            #expect(machine.handle(.failed(Self.refused)) == Self.advertises)
        }
        #expect(machine.handle(.registeredAdvertisements) == nil)
        for event in [Event.connectionsChanged(1), .withdrewAdvertisements] { _ = machine.handle(event) }
        let first = Action.awaitRenewal(after: .seconds(1), because: Self.refused)
        #expect(machine.handle(.failed(Self.refused)) == first)
    }

    // MARK: Several advertisements

    private static let several: [Machine.AdvertisementTraits] = [
        Machine.AdvertisementTraits(),
        Machine.AdvertisementTraits(pausesWhileConnected: true),
        Machine.AdvertisementTraits(hasTimeout: true),
    ]

    /// A published machine with an advertisement of each kind, on an adapter of either kind.
    private static func published(isInterrupted: Bool, ended: Set<Int> = []) -> (
        machine: Machine, first: Action?
    ) {
        let adapter = AdapterDescription(
            path: path,
            isPowered: true,
            isUsable: true,
            connectionsInterruptAdvertising: isInterrupted
        )
        var machine = Machine(on: adapter, advertisements: several, endedAdvertisements: ended)
        _ = machine.start()
        _ = machine.handle(.registeredAgent)
        let first = machine.handle(.registeredApplication)
        for event in [Event.registeredAdvertisements, .reportedPublication] { _ = machine.handle(event) }
        return (machine, first)
    }

    @Test(arguments: [true, false]) func whatPausesIsOffTheAirWhileCentralsAreConnected(isInterrupted: Bool) {
        var (machine, first) = Self.published(isInterrupted: isInterrupted)
        #expect(first == .registerAdvertisements(adapter: Self.path, [0, 1, 2]))
        #expect(machine.handle(.connectionsChanged(1)) == Self.withdrawsAdvertisement)
        #expect(
            machine.handle(.withdrewAdvertisements) == .registerAdvertisements(adapter: Self.path, [0, 2])
        )
        #expect(machine.handle(.registeredAdvertisements) == nil)
        #expect(machine.handle(.connectionsChanged(2)) == (isInterrupted ? Self.withdrawsAdvertisement : nil))
        if isInterrupted {
            for event in [Event.withdrewAdvertisements, .registeredAdvertisements] {
                _ = machine.handle(event)
            }
        }
        #expect(machine.handle(.connectionsChanged(0)) == Self.withdrawsAdvertisement)
        #expect(
            machine.handle(.withdrewAdvertisements) == .registerAdvertisements(adapter: Self.path, [0, 1, 2])
        )
        #expect(machine.isAdvertising)
    }

    @Test func whoseTimeIsOverDoesNotComeBack() {
        var (machine, _) = Self.published(isInterrupted: true)
        #expect(machine.handle(.advertisementReleased(2)) == nil)
        #expect(machine.endedAdvertisements == [2])
        #expect(machine.isAdvertising)
        #expect(machine.handle(.connectionsChanged(1)) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == .registerAdvertisements(adapter: Self.path, [0]))
        let again = Self.published(isInterrupted: true, ended: [2])
        #expect(again.first == .registerAdvertisements(adapter: Self.path, [0, 1]))
    }

    @Test func nothingIsOnTheAirWhenTheTimeOfAllIsOver() {
        var machine = Machine(
            on: Self.adapter,
            advertisements: [Machine.AdvertisementTraits(hasTimeout: true)]
        )
        _ = machine.start()
        for event in Self.published + [.advertisementReleased(0)] {
            #expect(machine.handle(event) != .finish(nil))
        }
        #expect(machine.isRegistered && !machine.isAdvertising)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    /// Whatever comes in whatever order: nothing goes on the air after a stop, and nothing stays registered.
    @Test func afterAStopThingsAreOnlyWithdrawn() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            var machine = Machine(on: Self.adapter)
            var past: [Event] = []
            _ = machine.start()
            for _ in 0..<Int.random(in: 0..<10, using: &generator) {
                guard let event = Self.events.randomElement(using: &generator) else { break }
                past.append(event)
                _ = machine.handle(event)
            }
            var actions: [Action?] = [machine.handle(.stopRequested)]
            for _ in 0..<10 {
                guard let event = Self.events.randomElement(using: &generator) else { break }
                past.append(event)
                actions.append(machine.handle(event))
            }
            for case .some(let action) in actions {
                switch action {
                case .withdrawAdvertisements, .withdrawApplication, .withdrawAgent, .finish: break
                default: Issue.record("\(action) after a stop; seed 2, \(past)")
                }
            }
        }
    }

    @Test func neverActsAfterTheEndWhateverHappens() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            var machine = Machine(on: Self.adapter)
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
