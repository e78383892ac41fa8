import PeripheralDBus
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Every state with every event.
@Suite(.timeLimit(.minutes(1)))
struct SupervisorStateMachineTests {
    typealias Machine = SupervisorStateMachine
    typealias Event = Machine.Event
    typealias Action = Machine.Action
    typealias Failure = Machine.Failure
    typealias Registration = Machine.Registration

    private static let adapter = AdapterDescription(path: "/org/bluez/hci0", isPowered: true, isUsable: true)
    private static let path = adapter.path
    private static let refused = Failure(code: .rejected, message: "refused")
    private static let forbidden = Failure(code: .permissionDenied, message: "forbidden")
    private static let noDaemon = Failure.noDaemon
    private static let silence = Failure(BusError.timedOut, step: .findingAdapters)
    private static let noBus = Failure(code: .stackUnavailable, message: "no bus")
    private static let invalid = Failure(
        code: .rejected,
        message: "invalid",
        issues: [DeclarationIssue(severity: .error, element: "peripheral", reason: "wrong", remedy: "mend")]
    )
    private static let noAdapter = Failure(
        code: .adapterUnavailable,
        message:
            "bluetoothd has no Bluetooth adapter. Plug one in, or run 'bluetoothctl list' and 'rfkill'."
    )

    /// A state by the events that lead to it, and what comes of each further event that matters there.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var past: [Event]
        var settings = AdapterSettings()
        var reactions: [(event: Event, action: Action)]
        var state: PeripheralState
    }

    private static let examining: [Event] = [.connected]
    private static let startingDaemon: [Event] = examining + [.failed(noDaemon)]
    private static let registering: [Event] = examining + [.examined([adapter])]
    private static let published: [Event] =
        registering
        + [
            .registeredAgent, .registeredServices(refused: [:]), .advertised(refused: [:]),
            .reportedPublication,
        ].map {
            .registration($0)
        }
    private static let stopping: [Event] = published + [.stopRequested]

    private static let examines = Action.examine(startsDaemon: false)
    private static let shortly = Duration.milliseconds(100)
    private static let later = Duration.milliseconds(150)
    private static let stops: [(event: Event, action: Action)] = [(.stopRequested, .finish(nil))]
    private static let somethingChanges: [Event] = [
        .daemonAppeared, .daemonLost, .adapterAppeared(path), .adapterLost(path), .powerChanged(path, true),
        .powerChanged(path, false),
    ]
    private static let looksAgain: [(event: Event, action: Action)] = somethingChanges.map { ($0, examines) }

    private static let failuresToConnect: [(event: Event, action: Action)] =
        [noBus, noDaemon, refused, forbidden, silence, .busLost].map {
            (.failed($0), .wait(shortly, because: $0))
        } + [(.failed(invalid), .finish(invalid))]
    /// By the connection that there is, nothing may come any more.
    private static let losses: [(event: Event, action: Action)] = [
        (.busLost, .disconnect), (.failed(.busLost), .disconnect), (.failed(silence), .disconnect),
    ]

    static let rows: [Row] = [
        Row(
            testDescription: "connecting",
            past: [],
            reactions: stops + failuresToConnect + [(.connected, examines)],
            state: PeripheralState(radio: .unknown)
        ),
        Row(
            testDescription: "connecting while the bus is lost",
            past: [.busLost],
            reactions: stops + failuresToConnect + [(.connected, .disconnect)],
            state: PeripheralState(radio: .unknown)
        ),
        Row(
            testDescription: "waiting for the bus",
            past: [.failed(noBus)],
            reactions: stops + [(.waited, .connect)],
            state: PeripheralState(radio: .resetting, reason: "no bus")
        ),
        Row(
            testDescription: "examining",
            past: examining,
            reactions: stops + losses + [
                (.examined([adapter]), .registration(.registerAgent, on: path)),
                (.examined([]), .awaitChange(because: noAdapter)),
                (.failed(noBus), .awaitChange(because: noBus)),
                (.failed(noDaemon), .examine(startsDaemon: true)),
                (.failed(refused), .wait(shortly, because: refused)),
                (.failed(forbidden), .wait(shortly, because: forbidden)),
                (.failed(invalid), .finish(invalid)),
            ],
            state: PeripheralState(radio: .unknown)
        ),
        Row(
            testDescription: "having the daemon started",
            past: startingDaemon,
            reactions: stops + losses + [
                (.examined([adapter]), .registration(.registerAgent, on: path)),
                (.examined([]), .awaitChange(because: noAdapter)),
                (.failed(noBus), .awaitChange(because: noBus)),
                (.failed(noDaemon), .awaitChange(because: noDaemon)),
                (.failed(refused), .wait(shortly, because: refused)),
                (.failed(forbidden), .wait(shortly, because: forbidden)),
                (.failed(invalid), .finish(invalid)),
            ],
            state: PeripheralState(radio: .resetting, reason: Failure.daemonStarting.message)
        ),
        Row(
            testDescription: "examining while something changes",
            past: examining + [.adapterAppeared(path)],
            reactions: stops + losses + [
                (.examined([adapter]), examines), (.examined([]), examines),
                (.failed(noBus), examines), (.failed(noDaemon), .examine(startsDaemon: true)),
                (.failed(refused), examines), (.failed(forbidden), examines),
                (.failed(invalid), .finish(invalid)),
            ],
            state: PeripheralState(radio: .unknown)
        ),
        Row(
            testDescription: "waiting for the daemon",
            past: startingDaemon + [.failed(noDaemon)],
            reactions: stops + looksAgain + [
                (.busLost, .disconnect), (.daemonFound, .disconnect), (.waited, examines),
            ],
            state: PeripheralState(radio: .resetting, reason: noDaemon.message)
        ),
        Row(
            testDescription: "waiting for an adapter",
            past: examining + [.examined([])],
            reactions: stops + looksAgain + [
                (.busLost, .disconnect), (.daemonFound, .disconnect), (.waited, examines),
            ],
            state: PeripheralState(radio: .unsupported, reason: noAdapter.message)
        ),
        Row(
            testDescription: "waiting for the adapter's power",
            past: examining + [
                .examined([AdapterDescription(path: path, isPowered: false, isUsable: true)])
            ],
            reactions: stops + looksAgain + [
                (.busLost, .disconnect), (.daemonFound, .disconnect), (.waited, examines),
            ],
            state: PeripheralState(
                radio: .poweredOff,
                reason:
                    "No Bluetooth adapter is powered on; use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked."
            )
        ),
        Row(
            testDescription: "waiting for a permission",
            past: examining + [.failed(forbidden)],
            reactions: stops + looksAgain + [
                (.busLost, .disconnect), (.daemonFound, .disconnect), (.waited, examines),
            ],
            state: PeripheralState(radio: .unauthorized, reason: "forbidden")
        ),
        Row(
            testDescription: "preparing the adapter",
            past: registering,
            settings: AdapterSettings(alias: "Lamp"),
            reactions: stops + losses + [
                (.preparedAdapter, .registration(.registerAgent, on: path)),
                (.failed(noBus), .awaitChange(because: noBus)),
                (.failed(noDaemon), .awaitChange(because: noDaemon)),
                (.failed(refused), .wait(shortly, because: refused)),
                (.failed(forbidden), .wait(shortly, because: forbidden)),
                (.failed(invalid), .finish(invalid)),
            ],
            state: PeripheralState(radio: .unknown)
        ),
        Row(
            testDescription: "registering",
            past: registering,
            reactions: [
                (.registration(.registeredAgent), .registration(.registerServices([0: []]), on: path)),
                (.busLost, .disconnect), (.failed(.busLost), .disconnect), (.daemonLost, .disconnect),
                (.adapterLost(path), .disconnect),
                (.failed(noBus), .disconnect), (.failed(noDaemon), .disconnect),
                (.failed(refused), .registration(.withdrawAgent, on: path)),
                (.failed(silence), .registration(.withdrawAgent, on: path)),
                (.failed(forbidden), .registration(.withdrawAgent, on: path)),
                (.failed(invalid), .registration(.withdrawAgent, on: path)),
            ],
            state: PeripheralState(radio: .poweredOn)
        ),
        Row(
            testDescription: "published",
            past: published,
            reactions: [
                (.stopRequested, .registration(.withdrawAdvertisements([0]), on: path)),
                (.busLost, .disconnect), (.failed(.busLost), .disconnect), (.daemonLost, .disconnect),
                (.adapterLost(path), .disconnect),
                (.failed(noBus), .disconnect), (.failed(noDaemon), .disconnect),
            ],
            state: PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: true)
        ),
        Row(
            testDescription: "published without power",
            past: published + [.powerChanged(path, false)],
            reactions: [
                (.stopRequested, .registration(.withdrawAdvertisements([0]), on: path)),
                (.powerChanged(path, true), .registration(.withdrawAdvertisements([0]), on: path)),
                (.busLost, .disconnect), (.failed(.busLost), .disconnect), (.daemonLost, .disconnect),
                (.adapterLost(path), .disconnect),
                (.failed(noBus), .disconnect), (.failed(noDaemon), .disconnect),
            ],
            state: PeripheralState(
                radio: .poweredOff,
                isRegistered: true,
                reason:
                    "The Bluetooth adapter is powered off; use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked."
            )
        ),
        Row(
            testDescription: "stopping",
            past: stopping,
            reactions: [
                (.busLost, .finish(nil)), (.failed(.busLost), .finish(nil)), (.daemonLost, .finish(nil)),
                (.adapterLost(path), .finish(nil)),
                (.failed(noBus), .finish(nil)), (.failed(noDaemon), .finish(nil)),
                (.failed(refused), .registration(.withdrawApplications, on: path)),
                (.failed(silence), .registration(.withdrawApplications, on: path)),
                (.failed(forbidden), .registration(.withdrawApplications, on: path)),
                (.failed(invalid), .registration(.withdrawApplications, on: path)),
            ],
            state: PeripheralState(radio: .poweredOn, isRegistered: true)
        ),
        Row(
            testDescription: "disconnecting after a loss",
            past: published + [.daemonLost],
            reactions: stops + [
                (.disconnected, .connect), (.failed(.busLost), .connect), (.failed(silence), .connect),
                (.failed(noBus), .connect), (.failed(noDaemon), .connect),
                (.failed(refused), .connect), (.failed(forbidden), .connect), (.failed(invalid), .connect),
            ],
            state: PeripheralState(radio: .resetting, reason: Failure.daemonLost.message)
        ),
        Row(
            testDescription: "disconnecting after another loss",
            past: published + [.daemonLost, .disconnected, .connected, .busLost],
            reactions: stops + [
                (.disconnected, .wait(later, because: .busLost)),
                (.failed(.busLost), .wait(later, because: .busLost)),
                (.failed(silence), .wait(later, because: .busLost)),
                (.failed(noBus), .wait(later, because: .busLost)),
                (.failed(noDaemon), .wait(later, because: .busLost)),
                (.failed(refused), .wait(later, because: .busLost)),
                (.failed(forbidden), .wait(later, because: .busLost)),
                (.failed(invalid), .wait(later, because: .busLost)),
            ],
            state: PeripheralState(radio: .resetting, reason: Failure.busLost.message)
        ),
        Row(
            testDescription: "disconnecting after a refusal",
            past: registering + [.failed(refused), .registration(.withdrewAgent)],
            reactions: stops + [
                (.disconnected, .wait(shortly, because: refused)),
                (.failed(.busLost), .wait(shortly, because: refused)),
                (.failed(silence), .wait(shortly, because: refused)),
                (.failed(noBus), .wait(shortly, because: refused)),
                (.failed(noDaemon), .wait(shortly, because: refused)),
                (.failed(refused), .wait(shortly, because: refused)),
                (.failed(forbidden), .wait(shortly, because: refused)),
                (.failed(invalid), .wait(shortly, because: refused)),
            ],
            state: PeripheralState(radio: .poweredOn, reason: "refused")
        ),
        Row(
            testDescription: "finished",
            past: [.stopRequested],
            reactions: [],
            state: PeripheralState(radio: .unknown)
        ),
    ]

    private static let events: [Event] =
        somethingChanges + [
            .connected, .examined([adapter]), .examined([]), .preparedAdapter, .waited, .disconnected,
            .failed(noBus), .failed(noDaemon), .failed(refused), .failed(forbidden), .failed(invalid),
            .failed(.busLost), .failed(silence), .registration(.registeredAgent), .stopRequested, .busLost,
            .daemonFound, .adapterLost("/org/bluez/hci7"),
            .powerChanged("/org/bluez/hci7", true),
        ]

    private static func machine(
        after past: [Event],
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always
    ) -> Machine {
        var machine = Machine(selection: .firstPowered, settings: settings, recovery: recovery)
        _ = machine.start()
        for event in past { _ = machine.handle(event) }
        return machine
    }

    @Test(arguments: rows) func reactsToWhatMattersAndToNothingElse(row: Row) {
        #expect(Self.machine(after: row.past, settings: row.settings).peripheralState == row.state)
        for event in Self.events {
            var machine = Self.machine(after: row.past, settings: row.settings)
            var expected = row.reactions.first { $0.event == event }?.action
            // What becomes of another adapter changes what can be chosen, as long as none is in use.
            if expected == nil,
                row.reactions.contains(where: { $0 == (.adapterLost(Self.path), Self.examines) }),
                event == .adapterLost("/org/bluez/hci7") || event == .powerChanged("/org/bluez/hci7", true)
            {
                expected = Self.examines
            }
            #expect(machine.handle(event) == expected, "\(event)")
        }
    }

    // MARK: - Recovery

    @Test func afterALossItIsPublishedAsBefore() {
        for loss in [Event.busLost, .daemonLost, .adapterLost(Self.path)] {
            var machine = Self.machine(after: Self.published)
            #expect(machine.handle(loss) == .disconnect)
            #expect(machine.handle(.disconnected) == .connect)
            #expect(machine.handle(.connected) == Self.examines)
            #expect(machine.handle(.examined([])) == .awaitChange(because: Self.noAdapter))
            #expect(machine.handle(.adapterAppeared(Self.path)) == Self.examines)
            for event in Self.published.dropFirst() { _ = machine.handle(event) }
            #expect(
                machine.peripheralState
                    == PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: true)
            )
        }
    }

    /// Possibly, no message arrives on this connection any more.
    ///
    /// Only bluetoothd knows the state of the radio.
    @Test func aDaemonThatDoesNotAnswerIsAskedAgainByAnotherConnection() {
        var machine = Self.machine(after: Self.examining)
        #expect(machine.handle(.failed(Self.silence)) == .disconnect)
        #expect(machine.peripheralState == PeripheralState(radio: .resetting, reason: Self.silence.message))
        #expect(machine.handle(.disconnected) == .wait(Self.shortly, because: Self.silence))
        #expect(machine.handle(.waited) == .connect)
    }

    @Test func aDaemonThatWasStoppedIsNotStartedByTheBus() {
        var machine = Self.machine(after: [])
        #expect(machine.handle(.connected) == Self.examines)
        #expect(machine.handle(.failed(Self.noDaemon)) == .examine(startsDaemon: true))
        #expect(machine.handle(.failed(Self.noDaemon)) == .awaitChange(because: Self.noDaemon))
        #expect(machine.handle(.daemonAppeared) == Self.examines)
        #expect(machine.handle(.failed(Self.noDaemon)) == .awaitChange(because: Self.noDaemon))
    }

    /// The state has no reason after the bus has started bluetoothd.
    @Test func aDaemonThatTheBusHasStartedIsNoReasonAnyMore() {
        let machine = Self.machine(after: Self.startingDaemon + [.examined([Self.adapter])])
        #expect(machine.peripheralState.reason == nil)
    }

    @Test func delaysGrowToTenSecondsAndBeginAnewOncePublished() throws {
        var machine = Self.machine(after: [])
        var last = Duration.zero
        for _ in 0..<20 {
            let action = machine.handle(.failed(Self.noBus))
            guard case .wait(let delay, because: Self.noBus) = action else {
                Issue.record("expected a delay, got \(String(describing: action))")
                return
            }
            #expect(delay > last || delay == .seconds(10))
            last = delay
            #expect(machine.handle(.waited) == .connect)
        }
        #expect(last == .seconds(10))
        for event in Self.published + [.daemonLost, .disconnected] { _ = machine.handle(event) }
        #expect(machine.handle(.failed(Self.noBus)) == .wait(Self.later, because: Self.noBus))
    }

    /// bluetoothd says that the adapter is there, and refuses it again and again.
    @Test func aLossThatRepeatsItselfIsNotMetInATightLoop() {
        var machine = Self.machine(after: Self.published + [.adapterLost(Self.path)])
        #expect(machine.handle(.disconnected) == .connect)
        for _ in 0..<5 {
            for event in Self.registering { _ = machine.handle(event) }
            let gone = Failure(code: .adapterUnavailable, message: "gone")
            _ = machine.handle(.failed(gone))
            #expect(machine.handle(.registration(.withdrewAgent)) == .disconnect)
            guard case .wait = machine.handle(.disconnected) else {
                Issue.record("expected a delay")
                return
            }
            #expect(machine.handle(.waited) == .connect)
        }
    }

    @Test func withoutRecoveryTheFirstLossIsTheEnd() {
        let losses: [(past: [Event], loss: Event, failure: Failure)] = [
            ([], .failed(Self.noBus), Self.noBus),
            (Self.startingDaemon, .failed(Self.noDaemon), Self.noDaemon),
            (Self.examining, .examined([]), Self.noAdapter),
            (Self.examining, .busLost, .busLost),
            (Self.registering, .daemonLost, .daemonLost),
        ]
        for recovery in [Recovery.never, .afterPublication] {
            for (past, loss, failure) in losses {
                var machine = Self.machine(after: past, recovery: recovery)
                #expect(machine.handle(loss) == .finish(failure))
            }
        }
        var machine = Self.machine(after: Self.published, recovery: .never)
        #expect(machine.handle(.daemonLost) == .finish(.daemonLost))
        machine = Self.machine(after: Self.published, recovery: .afterPublication)
        #expect(machine.handle(.daemonLost) == .disconnect)
    }

    @Test func settingsAreMadeOnlyWhereTheAdapterDiffers() {
        let off = AdapterDescription(path: Self.path, alias: "Lamp", isPowered: false, isUsable: true)
        let on = AdapterDescription(path: Self.path, alias: "Lamp", isPowered: true, isUsable: true)
        let registers = Action.registration(.registerAgent, on: Self.path)
        let table: [(AdapterSettings, AdapterDescription, Action)] = [
            (AdapterSettings(powersOn: true), off, .prepare(off)),
            (AdapterSettings(powersOn: true), on, registers),
            (AdapterSettings(alias: "Lamp"), on, registers),
            (AdapterSettings(alias: "Door"), on, .prepare(on)),
            (AdapterSettings(isPairable: false), on, .prepare(on)),
        ]
        for (settings, adapter, action) in table {
            var machine = Self.machine(after: Self.examining, settings: settings)
            #expect(machine.handle(.examined([adapter])) == action)
        }
    }

    // MARK: - What is demanded to be advertised

    private static let lamp = Advertisement(localName: "Lamp", timeout: .seconds(60))
    private static let door = Advertisement(localName: "Door")

    @Test(arguments: [[], examining, published + [.daemonLost], published + [.powerChanged(path, false)]])
    func whatIsDemandedOffTheAirIsAdvertisedLater(past: [Event]) {
        var machine = Self.machine(after: past)
        #expect(machine.handle(.advertisingDemanded([Self.lamp, Self.door], restarted: [])) == nil)
        #expect(throws: Never.self) { try machine.takeOutcomeOfDemand()?.get() }
        #expect(machine.takeOutcomeOfDemand() == nil)
        var actions: [Action?] = []
        let events: [Event] = [
            .connected, .busLost, .disconnected, .connected, .examined([Self.adapter]),
            .registration(.registeredAgent), .registration(.registeredServices(refused: [:])),
        ]
        for event in events { actions.append(machine.handle(event)) }
        let advertises = Registration.Action.registerAdvertisements([0: Self.lamp, 1: Self.door])
        #expect(actions.last == .registration(advertises, on: Self.path))
    }

    @Test func whatIsDemandedOutlastsARecovery() {
        var machine = Self.machine(after: Self.published)
        let demand = Event.advertisingDemanded([Self.lamp, Self.door], restarted: [])
        _ = machine.handle(demand)
        for _ in 0..<2 { _ = machine.handle(.registration(.advertised(refused: [:]))) }
        #expect(throws: Never.self) { try machine.takeOutcomeOfDemand()?.get() }
        _ = machine.handle(.registration(.advertisementReleased(0)))
        #expect(machine.endedAdvertisements == [0])
        for event in [Event.daemonLost, .disconnected] + Self.registering { _ = machine.handle(event) }
        _ = machine.handle(.registration(.registeredAgent))
        #expect(
            machine.handle(.registration(.registeredServices(refused: [:])))
                == .registration(.registerAdvertisements([1: Self.door]), on: Self.path)
        )
    }

    // MARK: - The bus is lost

    /// When the loss becomes known, and what becomes of the step that it meets.
    enum Loss: CaseIterable {
        /// The step's last reply came before the loss, and its outcome comes after it.
        case beforeSuccess
        case afterSuccess
        /// The step's reply is cut off.
        case beforeFailure
        case afterFailure
        /// Only the failure of the step shows the loss.
        case asFailure
    }

    /// Each row, and each step of the way to the air and back.
    private static let ways: [Row] =
        rows
        + stopping.indices.map { count in
            let all = stopping.flatMap { $0 == .examined([adapter]) ? [$0, .preparedAdapter] : [$0] }
            return Row(
                testDescription: "step \(count)",
                past: Array(all.prefix(count)),
                settings: AdapterSettings(alias: "Lamp"),
                reactions: [],
                state: PeripheralState()
            )
        }

    /// From each state, however the loss meets the step that is under way, it gets on the air by another
    /// connection.
    @Test(arguments: ways, Loss.allCases) func noLossOfTheBusIsForgotten(row: Row, loss: Loss) {
        var machine = Machine(selection: .firstPowered, settings: row.settings)
        var action: Action? = machine.start()
        for event in row.past { action = machine.handle(event) ?? action }
        // What waits for a signal cannot fail.
        if case .awaitChange = action, loss == .asFailure { return }
        var isReplaced = false
        for case let event? in Self.events(of: loss, during: action) where !isReplaced || event == .busLost {
            guard let next = machine.handle(event) else { continue }
            action = next
            // What comes of the step that it replaces does not count.
            isReplaced = true
        }
        var isLost = true
        // A connection may be lost before its step reports success.
        var losesNext = loss == .afterSuccess && action == .connect
        for _ in 0..<40 where !machine.peripheralState.isOnTheAir || isLost {
            if action == .finish(nil), row.past.contains(.stopRequested) { return }
            let outcome: Event?
            switch action {
            case .connect:
                (isLost, losesNext) = (losesNext, false)
                outcome = .connected
            case .wait, .disconnect: outcome = Self.success(of: action)
            case .awaitChange where isLost: outcome = nil
            default:
                outcome =
                    isLost ? .failed(.busLost) : Self.improvement(after: action, machine.peripheralState)
            }
            guard let outcome else { break }
            action = machine.handle(outcome) ?? action
        }
        #expect(machine.peripheralState.isOnTheAir && !isLost, "stays at \(String(describing: action))")
    }

    private static func events(of loss: Loss, during action: Action?) -> [Event?] {
        switch loss {
        case .beforeSuccess: [.busLost, success(of: action)]
        case .afterSuccess: [success(of: action), .busLost]
        case .beforeFailure: [.busLost, .failed(.busLost)]
        case .afterFailure: [.failed(.busLost), .busLost]
        case .asFailure: [.failed(.busLost)]
        }
    }

    // MARK: - Whatever happens

    @Test func neverActsAfterTheEnd() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            var machine = Machine(selection: .firstPowered)
            var actions: [Action?] = [machine.start()]
            for _ in 0..<30 {
                guard let event = Self.events.randomElement(using: &generator) else { break }
                actions.append(machine.handle(event))
            }
            if let end = actions.firstIndex(where: { if case .finish = $0 { true } else { false } }) {
                #expect(actions[(end + 1)...].allSatisfy { $0 == nil })
            }
        }
    }

    /// From wherever events have led it, the machine gets on the air when all is well again.
    @Test func getsOnTheAirFromEverywhere() {
        var generator = SeededGenerator(seed: 4)
        let events = Self.events.filter { $0 != .stopRequested && $0 != .failed(Self.invalid) }
        for _ in 0..<2000 {
            var machine = Machine(selection: .firstPowered)
            var past: [Event] = []
            var action: Action? = machine.start()
            for _ in 0..<Int.random(in: 0..<30, using: &generator) {
                guard let event = events.randomElement(using: &generator) else { break }
                past.append(event)
                action = machine.handle(event) ?? action
            }
            for _ in 0..<40 where !machine.peripheralState.isOnTheAir {
                guard let event = Self.improvement(after: action, machine.peripheralState) else { break }
                action = machine.handle(event) ?? action
            }
            #expect(machine.peripheralState.isOnTheAir, "seed 4, \(past), then \(String(describing: action))")
        }
    }

    /// From wherever events have led it, the machine ends once that was requested, whatever comes of its
    /// steps.
    @Test(arguments: [true, false]) func endsFromEverywhere(succeeds: Bool) {
        var generator = SeededGenerator(seed: 5)
        let events = Self.events.filter { $0 != .stopRequested && $0 != .failed(Self.invalid) }
        for _ in 0..<2000 {
            var machine = Machine(selection: .firstPowered)
            var past: [Event] = []
            var action: Action? = machine.start()
            for _ in 0..<Int.random(in: 0..<30, using: &generator) {
                guard let event = events.randomElement(using: &generator) else { break }
                past.append(event)
                action = machine.handle(event) ?? action
            }
            action = machine.handle(.stopRequested) ?? action
            for _ in 0..<10 where action != .finish(nil) {
                let outcome = succeeds ? Self.success(of: action) : .failed(Self.refused)
                guard let outcome else { break }
                action = machine.handle(outcome) ?? action
            }
            #expect(action == .finish(nil), "seed 5, \(past)")
        }
    }

    /// What happens next when all is well.
    private static func improvement(after action: Action?, _ state: PeripheralState) -> Event? {
        if case .awaitChange = action { return .daemonAppeared }
        return state.radio == .poweredOff && state.isRegistered
            ? .powerChanged(path, true) : success(of: action)
    }

    /// What an action comes to when all is well.
    private static func success(of action: Action?) -> Event? {
        switch action {
        case .connect: .connected
        case .examine: .examined([adapter])
        case .prepare: .preparedAdapter
        case .wait: .waited
        case .disconnect: .disconnected
        case .registration(.registerAgent, _): .registration(.registeredAgent)
        case .registration(.registerServices, _): .registration(.registeredServices(refused: [:]))
        case .registration(.withdrawServices, _): .registration(.withdrewServices)
        case .registration(.registerAdvertisements, _), .registration(.changeAdvertisements, _):
            .registration(.advertised(refused: [:]))
        case .registration(.reportPublication, _): .registration(.reportedPublication)
        case .registration(.awaitRenewal, _): .registration(.renewalIsDue)
        case .registration(.withdrawAdvertisements, _): .registration(.withdrewAdvertisements)
        case .registration(.withdrawApplications, _): .registration(.withdrewApplications)
        case .registration(.withdrawAgent, _): .registration(.withdrewAgent)
        case .awaitChange, .registration(.finish, _), .finish, nil: nil
        }
    }
}
