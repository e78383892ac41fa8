internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Observes which updates the controller has sent.
///
/// This tracker is used if the program may watch the links. It belongs to the event loop.
final class ObservedCompletion: CompletionTracker {
    /// The interval between two looks at the links while updates are in flight.
    private static let lookInterval = Duration.milliseconds(200)
    /// The interval between two looks after frames were missed.
    private static let hastyLookInterval = Duration.milliseconds(25)

    private let adapter: ObjectPath
    private let devices: DeviceRegister
    private let context: CentralsContext
    private let kernelLinks: any KernelLinks
    private let reporter: EventReporter
    private let turns: DaemonTurns
    private let timer: CompletionTimer
    private var watch: (any LinkWatch)?
    private var inFlight = InFlightUpdates()
    private var windows: LinkWindows
    /// The connections that are watched, with their centrals' addresses.
    private var connections: [LinkState] = []
    /// Whether an answer of bluetoothd is pending that shows that it is idle, for a look at the links.
    private var isLooking = false

    /// Begins to watch an adapter; `nil` if the kernel does not allow this.
    init?(
        on adapter: ObjectPath,
        in context: CentralsContext,
        devices: DeviceRegister,
        kernelLinks: any KernelLinks,
        reporter: EventReporter,
        turns: DaemonTurns,
        loop: EventLoop
    ) {
        self.adapter = adapter
        self.devices = devices
        self.context = context
        self.kernelLinks = kernelLinks
        self.reporter = reporter
        self.turns = turns
        timer = CompletionTimer(in: turns)
        windows = LinkWindows(room: kernelLinks.room(of: adapter))
        watch = kernelLinks.watch(adapter, on: loop) { [weak self] in self?.observed($0) }
        if watch == nil { return nil }
    }

    var completionReporting: CompletionReporting { .observed }

    func willSend(_ update: BackendUpdate, to centrals: [Central.ID]) {
        guard let attribute = context.onAir(update.characteristic) else { return }
        // An indication ends when it is confirmed.
        inFlight.given(update.awaitsConfirmation ? nil : update.id, of: attribute, for: centrals)
        for central in centrals where windows.began(for: central) { reportWindows() }
        lookLater()
    }

    func withdraw(_ update: BackendUpdate.ID) {
        inFlight.withdraw(update)
    }

    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        report([inFlight.taken(update, outcome)])
    }

    func received(_ request: CompletionPace.Request, from central: Central.ID) {}

    func confirmed(_ update: BackendUpdate.ID) {}

    func connected(_ central: Central.ID) {
        windows.connected(central)
        reportWindows()
    }

    func disconnected(_ central: Central.ID) {
        connections.removeAll { devices.id(ofLink: $0.address) == central }
        windows.disconnected(central)
        reportWindows()
        report(inFlight.settled(central))
    }

    func end() {
        watch?.close()
        watch = nil
        timer.cancel()
    }

    private func report(_ events: [BackendEvent?]) {
        // Without a timer, the loop does not wake up a program that sends rarely.
        if inFlight.isEmpty {
            timer.cancel()
            windows.rested()
        }
        reporter.report(all: events)
    }

    private func reportWindows() {
        for (central, window) in windows.takeChanges() { reporter.report(.windowChanged(central, window)) }
    }

    private func observed(_ observations: [LinkObservation]) {
        var events: [BackendEvent?] = []
        adaptWindows(to: observations)
        for observation in observations {
            switch observation {
            case .completed(let attribute, let connection):
                guard let central = central(on: connection) else { continue }
                events.append(inFlight.completed(attribute, for: central))
            case .ended(let connection): connections.removeAll { $0.connection == connection }
            case .adapterGone: connections = []
            case .missed:
                connections = []
                inFlight.missed()
                // From now on, the next look follows sooner.
                timer.cancel()
                lookLater()
            }
        }
        report(events)
    }

    private func adaptWindows(to observations: [LinkObservation]) {
        guard let watch, windows.isShared else { return }
        var counts: [(connection: UInt16, count: Int)] = []
        for case .completed(_, let connection) in observations {
            if let index = counts.firstIndex(where: { $0.connection == connection }) {
                counts[index].count += 1
            } else {
                counts.append((connection, 1))
            }
        }
        for (connection, count) in counts {
            // After missed frames, the packets of the link are not known.
            guard let central = central(on: connection), !inFlight.isRecovering(central) else { continue }
            windows.completed(
                count,
                for: central,
                of: inFlight.missing(for: central),
                remaining: watch.packetsInFlight(on: connection),
                among: watch.packetsInFlight
            )
        }
        reportWindows()
    }

    private func central(on connection: UInt16) -> Central.ID? {
        if let central = knownCentral(on: connection) { return central }
        learnConnections()
        return knownCentral(on: connection)
    }

    private func knownCentral(on connection: UInt16) -> Central.ID? {
        connections.first { $0.connection == connection }.map { devices.id(ofLink: $0.address) }
    }

    private func learnConnections() {
        connections = kernelLinks.links(of: adapter) ?? []
    }

    private func lookLater() {
        guard !timer.isSet, !isLooking, !inFlight.isEmpty else { return }
        let interval = inFlight.isUrgent ? Self.hastyLookInterval : Self.lookInterval
        timer.set(after: interval) { [weak self] in
            self?.isLooking = true
            // bluetoothd sends the updates that it has received before it answers.
            self?.turns.afterAnswer { self?.look() }
        }
    }

    private func look() {
        isLooking = false
        guard let activity = watch?.look() else { return }
        learnConnections()
        let busy = activity.busy.compactMap { knownCentral(on: $0) }
        let completing = activity.completing.compactMap { knownCentral(on: $0) }
        let forgotten = activity.forgotten.compactMap { knownCentral(on: $0) }
        report(
            inFlight.looked(
                { busy.contains($0) ? true : activity.isHeldUp ? nil : false },
                hasCompleted: completing.contains,
                isForgotten: forgotten.contains
            )
        )
        windows.looked(active: inFlight.centrals, moving: Set(completing), at: .now)
        reportWindows()
        lookLater()
    }
}
