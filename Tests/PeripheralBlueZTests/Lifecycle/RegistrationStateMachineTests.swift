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

    private static let path = "/org/bluez/hci0"
    private static let adapter = AdapterDescription(
        path: path,
        isPowered: true,
        isUsable: true,
        connectionsInterruptAdvertising: true
    )
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

    private static let plain = Advertisement(localName: "Plain")
    private static let pausing = Advertisement(localName: "Pausing", whileConnected: .pause)
    private static let short = Advertisement(localName: "Short", timeout: .seconds(60))

    private static let done = Event.advertised(refused: [:])
    private static let refusesAll = Event.advertised(refused: [0: refused])

    private static let prepared = [Event.registeredAgent]
    private static let registered = prepared + [.registeredServices(refused: [:])]
    private static let advertised = registered + [done]
    private static let published = advertised + [.reportedPublication]
    private static let interrupting = published + [.connectionsChanged(1)]
    private static let renewing = interrupting + [.withdrewAdvertisements]
    private static let awaiting = renewing + [refusesAll]
    private static let demanded = Event.advertisingDemanded([short], restarted: [])
    private static let changing = published + [demanded]

    private static let awaitsRefused = Action.awaitRenewal(after: .seconds(1), because: refused)
    private static let awaitsRenewal = Action.awaitRenewal(
        after: .seconds(1),
        because: Machine.Failure(
            code: .connectionLost,
            message: "bluetoothd has withdrawn the advertisement. See bluetoothd's log for the reason."
        )
    )
    private static let withdrawsAdvertisement = Action.withdrawAdvertisements([0])
    private static let advertises = Action.registerAdvertisements([0: plain])
    private static let advertisesOther = Action.registerAdvertisements([0: short])
    private static let changes = Action.changeAdvertisements([0: short])
    /// What is needed is gone, or a step found that out: the end of every step but a withdrawal.
    private static let ends: [(event: Event, action: Action)] = [
        (.lost(gone), .finish(gone)), (.failed(lost), .finish(lost)),
    ]

    static let rows: [Row] = [
        Row(
            testDescription: "registering the agent",
            past: [],
            reactions: ends + [
                (.registeredAgent, .registerServices([0: []])), (.failed(refused), .withdrawAgent),
            ]
        ),
        Row(
            testDescription: "registering the agent, asked to stop",
            past: [.stopRequested],
            reactions: ends + [(.registeredAgent, .withdrawAgent), (.failed(refused), .withdrawAgent)]
        ),
        Row(
            testDescription: "registering the application",
            past: prepared,
            reactions: ends + [
                (.registeredServices(refused: [:]), advertises), (.failed(refused), .withdrawAgent),
            ]
        ),
        Row(
            testDescription: "registering the application, asked to stop",
            past: prepared + [.stopRequested],
            reactions: ends + [
                (.registeredServices(refused: [:]), .withdrawApplications),
                (.failed(refused), .withdrawAgent),
            ]
        ),
        Row(
            testDescription: "registering the application, with something else demanded",
            past: prepared + [demanded],
            reactions: ends + [
                (.registeredServices(refused: [:]), advertisesOther), (.failed(refused), .withdrawAgent),
            ]
        ),
        Row(
            testDescription: "registering the application, with nothing to advertise",
            past: prepared + [.advertisingDemanded([], restarted: [])],
            reactions: ends + [
                (.registeredServices(refused: [:]), .reportPublication), (.failed(refused), .withdrawAgent),
            ]
        ),
        Row(
            testDescription: "registering the advertisement",
            past: registered,
            reactions: ends + [
                (done, .reportPublication), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, asked to stop",
            past: registered + [.stopRequested],
            reactions: ends + [
                (done, withdrawsAdvertisement), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, which is released before the answer is seen",
            past: registered + [.advertisementReleased(0)],
            reactions: ends + [
                (done, .reportPublication), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "registering the advertisement, with something else demanded",
            past: registered + [demanded],
            reactions: ends + [
                // It is not what was demanded that is refused.
                (done, .reportPublication), (refusesAll, advertisesOther),
                (.failed(refused), advertisesOther),
            ]
        ),
        Row(
            testDescription: "reporting the publication, with something else demanded",
            past: advertised + [demanded],
            reactions: ends + [
                (.reportedPublication, changes), (.failed(refused), withdrawsAdvertisement),
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
            testDescription: "registering with a central there already",
            past: registered + [.connectionsChanged(1)],
            reactions: ends + [
                (done, .reportPublication), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "reporting the publication, with a central that has just come",
            past: advertised + [.connectionsChanged(1)],
            reactions: ends + [
                (.reportedPublication, withdrawsAdvertisement), (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "published",
            past: published,
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.advertisementReleased(0), awaitsRenewal),
                (.connectionsChanged(1), withdrawsAdvertisement), (demanded, changes),
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
                (.withdrewAdvertisements, withdrawsAdvertisement), (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "interrupting the advertisement, with something else demanded",
            past: interrupting + [demanded],
            reactions: ends + [
                (.withdrewAdvertisements, advertisesOther), (.failed(refused), advertisesOther),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement",
            past: renewing,
            reactions: ends + [(refusesAll, awaitsRefused), (.failed(refused), awaitsRefused)]
        ),
        Row(
            testDescription: "renewing the advertisement, asked to stop",
            past: renewing + [.stopRequested],
            reactions: ends + [
                (done, withdrawsAdvertisement), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement, which is released before the answer is seen",
            past: renewing + [.advertisementReleased(0)],
            reactions: ends + [
                (done, awaitsRenewal), (refusesAll, awaitsRefused), (.failed(refused), awaitsRefused),
            ]
        ),
        Row(
            testDescription: "renewing the advertisement while centrals come and go",
            past: renewing + [.connectionsChanged(1), .connectionsChanged(1), .connectionsChanged(1)],
            reactions: ends + [
                (done, withdrawsAdvertisement), (refusesAll, awaitsRefused),
                (.failed(refused), awaitsRefused),
            ]
        ),
        Row(
            testDescription: "awaiting another renewal",
            past: awaiting,
            reactions: ends + [
                (.renewalIsDue, advertises), (.connectionsChanged(1), advertises),
                (.stopRequested, withdrawsAdvertisement), (demanded, advertisesOther),
            ]
        ),
        Row(
            testDescription: "changing the advertisement",
            past: changing,
            // With the one before, if that is what cannot be had.
            reactions: ends + [(refusesAll, advertises), (.failed(refused), advertises)]
        ),
        Row(
            testDescription: "changing the advertisement, asked to stop",
            past: changing + [.stopRequested],
            reactions: ends + [
                (done, withdrawsAdvertisement), (refusesAll, withdrawsAdvertisement),
                (.failed(refused), withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "changing the advertisement while a central comes",
            past: changing + [.connectionsChanged(1)],
            reactions: ends + [
                (done, withdrawsAdvertisement), (refusesAll, advertises), (.failed(refused), advertises),
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
                (done, withdrawsAdvertisement), (refusesAll, awaitsRefused),
                (.failed(refused), awaitsRefused),
            ]
        ),
        Row(
            testDescription: "without power after a refused renewal",
            past: renewing + [.powerChanged(false), refusesAll],
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.powerChanged(true), advertises),
            ]
        ),
        Row(
            testDescription: "awaiting another renewal, without power",
            past: awaiting + [.powerChanged(false)],
            reactions: ends + [
                (.powerChanged(true), advertises), (.stopRequested, withdrawsAdvertisement),
            ]
        ),
        Row(
            testDescription: "published after a renewal",
            past: renewing + [done],
            reactions: ends + [
                (.stopRequested, withdrawsAdvertisement), (.advertisementReleased(0), awaitsRenewal),
                (.connectionsChanged(1), withdrawsAdvertisement), (demanded, changes),
            ]
        ),
        Row(
            testDescription: "published, with nothing to advertise",
            past: published + [.advertisingDemanded([], restarted: []), .withdrewAdvertisements],
            reactions: ends + [(.stopRequested, withdrawsAdvertisement), (demanded, advertisesOther)]
        ),
        Row(
            testDescription: "withdrawing the advertisement",
            past: published + [.stopRequested],
            reactions: [
                (.withdrewAdvertisements, .withdrawApplications), (.failed(refused), .withdrawApplications),
                (.failed(lost), .finish(nil)), (.lost(gone), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application",
            past: published + [.stopRequested, .withdrewAdvertisements],
            reactions: [
                (.withdrewApplications, .withdrawAgent), (.failed(refused), .withdrawAgent),
                (.failed(lost), .finish(nil)), (.lost(gone), .finish(nil)),
            ]
        ),
        Row(
            testDescription: "withdrawing the application after a refused advertisement",
            past: registered + [refusesAll, .withdrewAdvertisements],
            reactions: [
                (.withdrewApplications, .withdrawAgent), (.failed(refused), .withdrawAgent),
                (.failed(lost), .finish(refused)), (.lost(gone), .finish(refused)),
            ]
        ),
        Row(
            testDescription: "withdrawing the agent",
            past: published + [.stopRequested, .withdrewAdvertisements, .withdrewApplications],
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
                .stopRequested, .withdrewAdvertisements, .withdrewApplications, .withdrewAgent,
            ],
            reactions: []
        ),
    ]

    private static let events: [Event] = [
        .powerChanged(false), .powerChanged(true), .registeredAgent, .registeredServices(refused: [:]), done,
        refusesAll,
        .reportedPublication, .renewalIsDue, .withdrewAdvertisements, .withdrewApplications, .withdrewAgent,
        .advertisementReleased(0), demanded, .connectionsChanged(1), .stopRequested, .failed(refused),
        .failed(lost), .lost(gone),
    ]

    private static func machine(after past: [Event], on adapter: AdapterDescription = adapter) -> Machine {
        var machine = Machine(on: adapter, advertisements: [plain])
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
        #expect(machine.start() == .registerAgent)
    }

    @Test func legacyAdvertisingNeedsNoRenewal() {
        let adapter = AdapterDescription(path: Self.path, isPowered: true, isUsable: true)
        var machine = Self.machine(
            after: [
                .registeredAgent, .registeredServices(refused: [:]), .connectionsChanged(1), Self.done,
                .reportedPublication,
            ],
            on: adapter
        )
        #expect(machine.handle(.connectionsChanged(1)) == nil)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    /// The report of the publication includes calls of bluetoothd, which may end meanwhile.
    @Test func itIsOnTheAirWhenItsPublicationIsReported() {
        var machine = Self.machine(after: Self.advertised)
        #expect(!machine.isAdvertising && !machine.isComplete)
        #expect(machine.handle(.reportedPublication) == nil)
        #expect(machine.isAdvertising && machine.isComplete)
    }

    /// The advertisement that bluetoothd drops, wherever the news finds the machine: the services stay.
    @Test(arguments: [
        published + [.advertisementReleased(0)],
        advertised + [.advertisementReleased(0), .reportedPublication],
        renewing + [.advertisementReleased(0), done],
    ]) func releasedAdvertisementIsRenewed(past: [Event]) {
        var machine = Self.machine(after: past)
        #expect(machine.isRegistered && !machine.isAdvertising && !machine.isComplete)
        #expect(machine.handle(.renewalIsDue) == Self.advertises)
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.isRegistered && machine.isAdvertising && machine.isComplete)
    }

    @Test func advertisesAgainWhenThePowerIsBack() {
        var machine = Self.machine(after: Self.published + [.powerChanged(false)])
        #expect(machine.isRegistered && !machine.isAdvertising)
        #expect(machine.handle(.powerChanged(true)) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == Self.advertises)
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.isAdvertising)
    }

    @Test func advertisementReleasedAfterTheStopIsNoFailure() {
        var machine = Self.machine(after: Self.registered + [.stopRequested, .advertisementReleased(0)])
        #expect(machine.handle(Self.done) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == .withdrawApplications)
        #expect(machine.handle(.withdrewApplications) == .withdrawAgent)
        #expect(machine.handle(.withdrewAgent) == .finish(nil))
    }

    @Test func changesDuringARenewalLeadToOneMore() {
        let changes = [Event](repeating: .connectionsChanged(1), count: 3)
        var machine = Self.machine(after: Self.renewing + changes)
        #expect(machine.handle(Self.done) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == Self.advertises)
        #expect(machine.handle(Self.done) == nil)
    }

    @Test func releaseOfTheWithdrawnAdvertisementIsForgotten() {
        var machine = Self.machine(
            after: Self.interrupting + [.advertisementReleased(0), .withdrewAdvertisements]
        )
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    @Test func renewalIsTriedLessAndLessOften() {
        var machine = Self.machine(after: Self.renewing)
        for seconds in [1, 2, 4, 8, 16, 30, 30, 30] {
            let wait = Action.awaitRenewal(after: .seconds(seconds), because: Self.refused)
            #expect(machine.handle(Self.refusesAll) == wait)
            #expect(machine.handle(.renewalIsDue) == Self.advertises)
        }
        #expect(machine.handle(Self.done) == nil)
        for event in [Event.connectionsChanged(1), .withdrewAdvertisements] { _ = machine.handle(event) }
        #expect(machine.handle(Self.refusesAll) == Self.awaitsRefused)
    }

    // MARK: Several advertisements

    private static let several = [plain, pausing, short]
    private static let severalByNumber = Dictionary(
        uniqueKeysWithValues: several.enumerated().map { ($0, $1) }
    )

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
        let first = machine.handle(.registeredServices(refused: [:]))
        for event in [done, .reportedPublication] { _ = machine.handle(event) }
        return (machine, first)
    }

    @Test(arguments: [true, false]) func whatPausesIsOffTheAirWhileCentralsAreConnected(isInterrupted: Bool) {
        var (machine, first) = Self.published(isInterrupted: isInterrupted)
        #expect(first == .registerAdvertisements(Self.severalByNumber))
        let leaving: Set<Int> = isInterrupted ? [0, 1, 2] : [1]
        #expect(machine.handle(.connectionsChanged(1)) == .withdrawAdvertisements(leaving))
        let renewed = Action.registerAdvertisements([0: Self.plain, 2: Self.short])
        #expect(machine.handle(.withdrewAdvertisements) == (isInterrupted ? renewed : nil))
        if isInterrupted { #expect(machine.handle(Self.done) == nil) }
        let second = machine.handle(.connectionsChanged(2))
        #expect(second == (isInterrupted ? .withdrawAdvertisements([0, 2]) : nil))
        if isInterrupted {
            for event in [Event.withdrewAdvertisements, Self.done] { _ = machine.handle(event) }
        }
        let end = machine.handle(.connectionsChanged(0))
        if isInterrupted {
            #expect(end == .withdrawAdvertisements([0, 2]))
            #expect(
                machine.handle(.withdrewAdvertisements) == .registerAdvertisements(Self.severalByNumber)
            )
        } else {
            #expect(end == .registerAdvertisements([1: Self.pausing]))
        }
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.isAdvertising)
    }

    @Test func whoseTimeIsOverDoesNotComeBack() {
        var (machine, _) = Self.published(isInterrupted: true)
        #expect(machine.handle(.advertisementReleased(2)) == nil)
        #expect(machine.advertising.ended == [2])
        #expect(machine.isAdvertising)
        #expect(machine.handle(.connectionsChanged(1)) == .withdrawAdvertisements([0, 1]))
        #expect(machine.handle(.withdrewAdvertisements) == .registerAdvertisements([0: Self.plain]))
        let again = Self.published(isInterrupted: true, ended: [2])
        #expect(again.first == .registerAdvertisements([0: Self.plain, 1: Self.pausing]))
    }

    @Test func nothingIsOnTheAirWhenTheTimeOfAllIsOver() {
        var machine = Machine(on: Self.adapter, advertisements: [Self.short])
        _ = machine.start()
        for event in Self.published + [.advertisementReleased(0)] {
            #expect(machine.handle(event) != .finish(nil))
        }
        #expect(machine.isRegistered && !machine.isAdvertising)
        #expect(machine.handle(.stopRequested) == Self.withdrawsAdvertisement)
    }

    @Test func whatIsRefusedOfSeveralIsTriedAgainAloneWhileTheOthersStay() {
        var machine = Machine(on: Self.adapter, advertisements: Self.several)
        _ = machine.start()
        for event in Self.registered { _ = machine.handle(event) }
        #expect(machine.handle(.advertised(refused: [1: Self.refused])) == .reportPublication)
        #expect(machine.handle(.reportedPublication) == Self.awaitsRefused)
        #expect(machine.isPublished && !machine.isAdvertising && !machine.isComplete)
        #expect(machine.handle(.renewalIsDue) == .registerAdvertisements([1: Self.pausing]))
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.isAdvertising && machine.isComplete)
    }

    @Test func aPartIsNotEnoughForWhoDoesNotWait() {
        var machine = Machine(on: Self.adapter, advertisements: Self.several, acceptsPart: false)
        _ = machine.start()
        for event in Self.registered { _ = machine.handle(event) }
        let refusal = Event.advertised(refused: [1: Self.refused])
        #expect(machine.handle(refusal) == .withdrawAdvertisements([0, 1, 2]))
        #expect(machine.handle(.withdrewAdvertisements) == .withdrawApplications)
        #expect(machine.handle(.withdrewApplications) == .withdrawAgent)
        #expect(machine.handle(.withdrewAgent) == .finish(Self.refused))
    }

    // MARK: Demands

    /// What came of a demand, as text.
    private static func outcome(of machine: inout Machine) -> String? {
        switch machine.takeOutcomeOfDemand() {
        case nil: nil
        case .success: "done"
        case .failure(let failure): failure.message
        }
    }

    @Test func onlyWhatIsDifferentChanges() {
        var (machine, _) = Self.published(isInterrupted: true)
        let new = [Self.plain, Self.short, Self.short, Self.pausing]
        let changed = Event.advertisingDemanded(new, restarted: [])
        #expect(machine.handle(changed) == .registerAdvertisements([3: Self.pausing]))
        #expect(machine.handle(Self.done) == .changeAdvertisements([1: Self.short]))
        #expect(Self.outcome(of: &machine) == nil)
        #expect(machine.handle(Self.done) == nil)
        #expect(Self.outcome(of: &machine) == "done")
        #expect(Self.outcome(of: &machine) == nil)
        let fewer = Event.advertisingDemanded([Self.plain], restarted: [])
        #expect(machine.handle(fewer) == .withdrawAdvertisements([1, 2, 3]))
        #expect(machine.handle(.withdrewAdvertisements) == nil)
        #expect(Self.outcome(of: &machine) == "done")
        #expect(machine.isAdvertising)
    }

    @Test func whatIsRefusedLeavesAllAsItWas() {
        var (machine, _) = Self.published(isInterrupted: true)
        let new = Event.advertisingDemanded([Self.short, Self.plain, Self.short, Self.plain], restarted: [])
        #expect(machine.handle(new) == .registerAdvertisements([3: Self.plain]))
        let refusal = Event.advertised(refused: [3: Self.refused])
        #expect(machine.handle(refusal) == nil)
        #expect(Self.outcome(of: &machine) == "refused")
        #expect(machine.advertising.registered == Self.severalByNumber)
        #expect(machine.isAdvertising)
    }

    @Test func whatWasChangedBeforeTheRefusalIsChangedBack() {
        var (machine, _) = Self.published(isInterrupted: true)
        let new = Event.advertisingDemanded([Self.short, Self.plain, Self.short], restarted: [])
        #expect(machine.handle(new) == .changeAdvertisements([0: Self.short, 1: Self.plain]))
        let refusal = Event.advertised(refused: [1: Self.refused])
        #expect(machine.handle(refusal) == .registerAdvertisements([1: Self.pausing]))
        #expect(Self.outcome(of: &machine) == "refused")
        #expect(machine.handle(Self.done) == .changeAdvertisements([0: Self.plain]))
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.advertising.registered == Self.severalByNumber)
    }

    @Test func nothingIsAdvertisedAfterAStopOfAdvertisingUntilItBegins() {
        var machine = Self.machine(after: Self.published)
        let nothing = Event.advertisingDemanded([], restarted: [])
        #expect(machine.handle(nothing) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == nil)
        #expect(Self.outcome(of: &machine) == "done")
        #expect(machine.isRegistered && !machine.isAdvertising && machine.isComplete)
        for event in [Event.connectionsChanged(1), .powerChanged(false), .powerChanged(true)] {
            #expect(machine.handle(event) == nil)
        }
        let again = Event.advertisingDemanded([Self.plain], restarted: [])
        #expect(machine.handle(again) == Self.advertises)
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.isAdvertising)
    }

    @Test func whoseTimeIsOverBeginsAnewWhenThatIsDemanded() {
        var (machine, _) = Self.published(isInterrupted: true)
        #expect(machine.handle(.advertisementReleased(2)) == nil)
        // Another one is changed.
        let other = Event.advertisingDemanded([Self.plain, Self.plain, Self.short], restarted: [1])
        #expect(machine.handle(other) == .changeAdvertisements([1: Self.plain]))
        #expect(machine.handle(Self.done) == nil)
        let itself = Event.advertisingDemanded([Self.plain, Self.plain, Self.short], restarted: [2])
        #expect(machine.handle(itself) == .registerAdvertisements([2: Self.short]))
        #expect(machine.handle(Self.done) == nil)
        #expect(machine.handle(.advertisementReleased(2)) == nil)
        var longer = Self.short
        longer.timeout = .seconds(90)
        let another = Event.advertisingDemanded([Self.plain, Self.plain, longer], restarted: [])
        #expect(machine.handle(another) == .registerAdvertisements([2: longer]))
    }

    @Test func aDemandWithoutPowerIsForLater() {
        var machine = Self.machine(after: Self.published + [.powerChanged(false)])
        #expect(machine.handle(Self.demanded) == nil)
        #expect(Self.outcome(of: &machine) == "done")
        #expect(machine.handle(.powerChanged(true)) == Self.withdrawsAdvertisement)
        #expect(machine.handle(.withdrewAdvertisements) == Self.advertisesOther)
    }

    @Test func aDemandEndsWithTheRegistration() {
        var machine = Self.machine(after: Self.changing)
        #expect(Self.outcome(of: &machine) == nil)
        #expect(machine.handle(.lost(Self.gone)) == .finish(Self.gone))
        #expect(Self.outcome(of: &machine) == "done")
        #expect(machine.advertising.advertisements == [Self.short])
    }

    // MARK: Services

    private static let added: GroupedServices = [0: [1], 1: [9]]

    @Test func addedServicesAreRegisteredAndSuperfluousOnesWithdrawn() {
        var machine = Self.machine(after: Self.published)
        #expect(machine.handle(.servicesDemanded(Self.added)) == .registerServices([1: [9]]))
        #expect(machine.takeOutcomeOfServices() == nil)
        #expect(machine.handle(.registeredServices(refused: [:])) == nil)
        guard case .success? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is done")
            return
        }
        // One of two services of an application goes, and another group comes.
        #expect(machine.handle(.servicesDemanded([1: [9, 20]])) == nil, "a group does not grow")
        #expect(machine.handle(.servicesDemanded([2: [30]])) == .registerServices([2: [30]]))
        #expect(machine.handle(.registeredServices(refused: [:])) == .withdrawServices([1: [9]]))
        #expect(machine.handle(.withdrewServices) == nil)
        #expect(machine.services.registered == [0: [], 2: [30]])
    }

    @Test func refusedServicesChangeNothing() {
        var machine = Self.machine(after: Self.published)
        let before = machine.services.registered
        #expect(machine.handle(.servicesDemanded([1: [9]])) == .registerServices([1: [9]]))
        #expect(machine.handle(.registeredServices(refused: [1: Self.refused])) == nil)
        guard case .failure(Self.refused)? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is refused")
            return
        }
        #expect(machine.services.registered == before)
        #expect(machine.services.wanted == before)
    }

    @Test func aLossRecordsTheChange() {
        var machine = Self.machine(after: Self.published)
        #expect(machine.handle(.servicesDemanded(Self.added)) == .registerServices([1: [9]]))
        #expect(machine.handle(.lost(Self.gone)) == .finish(Self.gone))
        guard case .success? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is recorded")
            return
        }
        #expect(machine.services.wanted == Self.added)
    }

    /// A machine that registers an added service again, which is refused.
    private static func machineWithRefusal() -> (machine: Machine, action: Action?) {
        var machine = Machine(on: adapter, services: added, advertisements: [plain])
        _ = machine.start()
        let events: [Event] = [
            .registeredAgent, .registeredServices(refused: [1: refused]), done, .reportedPublication,
        ]
        let action = events.reduce(nil) { _, event in machine.handle(event) }
        return (machine, action)
    }

    /// Each further attempt would make bluetoothd indicate Service Changed and use up handles.
    @Test func addedServicesThatAreRefusedDuringARecoveryWaitForTheNextOne() {
        var (machine, action) = Self.machineWithRefusal()
        #expect(action == nil)
        #expect(machine.isAdvertising && machine.isPublished && machine.isComplete)
        #expect(machine.services.registered == [0: [1]])
        for event in [Event.powerChanged(false), .powerChanged(true), .withdrewAdvertisements, Self.done] {
            let next = machine.handle(event)
            if case .registerServices = next { Issue.record("\(event) causes an attempt") }
        }
        #expect(machine.handle(.lost(Self.gone)) == .finish(Self.gone))
        #expect(machine.services.wanted == Self.added)
    }

    @Test func aRefusedGroupDoesNotRefuseAChange() {
        var (machine, _) = Self.machineWithRefusal()
        let wanted: GroupedServices = [0: [1], 1: [9], 2: [30]]
        #expect(machine.handle(.servicesDemanded(wanted)) == .registerServices([2: [30]]))
        #expect(machine.handle(.registeredServices(refused: [:])) == nil)
        guard case .success? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is done")
            return
        }
        #expect(machine.services.registered == [0: [1], 2: [30]])
        #expect(machine.services.wanted == wanted)
    }

    @Test func aRefusedChangeLeavesARefusedGroupWanted() {
        var (machine, _) = Self.machineWithRefusal()
        _ = machine.handle(.servicesDemanded([0: [1], 1: [9], 2: [30]]))
        #expect(machine.handle(.registeredServices(refused: [2: Self.refused])) == nil)
        guard case .failure(Self.refused)? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is refused")
            return
        }
        #expect(machine.services.wanted == Self.added)
    }

    /// A program changes the services while they are registered again.
    @Test func aChangeDuringARecoveryIsNotRefusedWithAnotherGroup() {
        var machine = Machine(on: Self.adapter, services: Self.added, advertisements: [Self.plain])
        _ = machine.start()
        _ = machine.handle(.registeredAgent)
        let wanted: GroupedServices = [0: [1], 1: [9], 2: [30]]
        #expect(machine.handle(.servicesDemanded(wanted)) == nil)
        #expect(machine.handle(.registeredServices(refused: [1: Self.refused])) == Self.advertises)
        #expect(machine.services.wanted == wanted)
    }

    @Test func aRefusedGroupCanBeRemoved() {
        var (machine, _) = Self.machineWithRefusal()
        #expect(machine.handle(.servicesDemanded([0: [1]])) == nil)
        guard case .success? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is done")
            return
        }
    }

    /// The services of a refused replacement return, even if bluetoothd refuses them as well.
    @Test func returningServicesStayWanted() {
        var machine = Self.machine(after: Self.published)
        let demand = Event.servicesDemanded(Self.added, returning: [1])
        #expect(machine.handle(demand) == .registerServices([1: [9]]))
        #expect(machine.handle(.registeredServices(refused: [1: Self.refused])) == nil)
        guard case .success? = machine.takeOutcomeOfServices() else {
            Issue.record("the change is done")
            return
        }
        #expect(machine.services.wanted == Self.added)
    }

    /// bluetoothd may have the services nevertheless.
    @Test func aMissingAnswerEndsTheRegistration() {
        var machine = Self.machine(after: Self.published)
        _ = machine.handle(.servicesDemanded(Self.added))
        let silence = Machine.Failure(code: .timedOut, message: "bluetoothd does not answer.")
        #expect(machine.handle(.failed(silence)) == .finish(silence))
        #expect(machine.services.wanted == Self.added)
    }

    // MARK: At random

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
                case .withdrawAdvertisements, .withdrawApplications, .withdrawAgent, .finish: break
                default: Issue.record("\(action) after a stop; seed 2, \(past)")
                }
            }
        }
    }

    /// A daemon that answers each step, and refuses at random: what is demanded last is on the air at the
    /// end.
    @Test func whatIsDemandedLastIsOnTheAirAtTheEnd() {
        var generator = SeededGenerator(seed: 3)
        let meanwhile: [Event] = [
            .connectionsChanged(0), .connectionsChanged(1), .powerChanged(false), .powerChanged(true),
            .advertisementReleased(0), .advertisementReleased(1),
        ]
        for round in 0..<2000 {
            var machine = Self.machine(after: Self.published)
            var action: Action?
            var demanded = [Self.plain]
            for step in 0..<20 {
                let isLast = step == 19
                if isLast { action = machine.handle(.powerChanged(true)) ?? action }
                if isLast || Bool.random(using: &generator) {
                    demanded = (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
                        [Self.plain, Advertisement(localName: "Other")].randomElement(using: &generator)
                    }
                    action = machine.handle(.advertisingDemanded(demanded, restarted: [])) ?? action
                } else if let event = meanwhile.randomElement(using: &generator) {
                    action = machine.handle(event) ?? action
                }
                // Some steps are still under way when the next thing happens.
                while isLast || Bool.random(using: &generator), let step = action {
                    action = machine.handle(Self.answer(to: step))
                }
            }
            while let step = action { action = machine.handle(Self.answer(to: step)) }
            let onAir = Dictionary(uniqueKeysWithValues: demanded.enumerated().map { ($0, $1) })
            #expect(machine.advertising.registered == onAir, "seed 3, round \(round)")
            #expect(machine.isComplete && machine.isAdvertising == !demanded.isEmpty)
        }
    }

    /// What a daemon says that refuses nothing.
    private static func answer(to action: Action) -> Event {
        switch action {
        case .registerAgent: .registeredAgent
        case .registerServices: .registeredServices(refused: [:])
        case .withdrawServices: .withdrewServices
        case .registerAdvertisements, .changeAdvertisements: done
        case .reportPublication: .reportedPublication
        case .awaitRenewal: .renewalIsDue
        case .withdrawAdvertisements: .withdrewAdvertisements
        case .withdrawApplications: .withdrewApplications
        case .withdrawAgent, .finish: .withdrewAgent
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
