internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// When updates have left, which bluetoothd does not tell: its queues have no end, and it takes whatever it is given.
extension Centrals {
    /// How often is looked at the links on which something is missing.
    private static let lookInterval = Duration.milliseconds(200)
    /// How often, when some of what they have carried went unseen.
    private static let hastyLookInterval = Duration.milliseconds(25)

    /// How it is known what has left.
    var pacing: UpdatePacing {
        if tracking.watch != nil { return .observed }
        return tracking.estimate == nil ? .unknown : .estimated
    }

    func beginTracking(on adapter: ObjectPath) {
        tracking.end()
        // Without the handles on the air, what is seen cannot be told apart.
        if abilities.tellsHandles {
            tracking.watch = kernelLinks.watch(adapter, on: connection.loop) { [weak self] observations in
                self?.assumeIsolated { $0.observed(observations) }
            }
        }
        if tracking.watch == nil { beginEstimate(of: adapter) }
        if pacing == .unknown { beginPace() }
        tracking.isOff = pacing == .unknown && tracking.pace == nil
    }

    /// Takes note that bluetoothd is being given an update by sockets.
    func willDepart(_ update: Update, for ways: [SocketRun.Way]) {
        if tracking.isOff { return }
        willDepart(update, for: ways.map(\.socket.central))
    }

    /// Takes note that bluetoothd is being given an update.
    func willDepart(_ update: Update, for centrals: [Central.ID]) {
        switch pacing {
        case .observed:
            guard let attribute = handles.onAir(update.characteristic) else { return }
            // An indication ends when it is confirmed.
            let id = update.awaitsConfirmation ? nil : update.id
            tracking.inFlight.given(id, of: attribute, for: centrals)
            lookLater()
        case .estimated: willProbablyDepart(update, for: centrals)
        case .unknown: willSlowlyDepart(update, for: centrals)
        }
    }

    /// Takes note that bluetoothd has not been given an update after all.
    func willNotDepart(_ update: Update) {
        tracking.estimate?.withdraw(update.id)
        tracking.pace?.withdraw(update.id)
        tracking.inFlight.withdraw(update.id)
    }

    /// Takes note that an update was taken by socket or bus, or could not be.
    func taken(_ update: Update, _ outcome: UpdateOutcome) {
        guard !tracking.isOff else { return ended(update.id, outcome) }
        if case .failed = outcome {
            tracking.estimate?.withdraw(update.id)
            tracking.pace?.withdraw(update.id)
        }
        reportDepartures([tracking.inFlight.taken(update.id, outcome)])
    }

    /// Takes note that nothing leaves for a central any more.
    func settleDepartures(for central: Central.ID) {
        tracking.connections.removeAll { devices.id(ofLink: $0.address) == central }
        let departed = tracking.estimate?.settled(central) ?? []
        tracking.pace?.settled(central)
        reportDepartures(
            tracking.inFlight.settled(central)
                + departed.map { tracking.inFlight.completed($0.attribute, for: $0.central) }
        )
    }

    func reportDepartures(_ events: [BackendEvent?]) {
        // Nothing is looked for any more, so that a program that sends now and then is not woken up once more.
        if tracking.inFlight.isEmpty { endTimer() }
        tellingEndsTogether {
            for case let event? in events { report(event) }
        }
    }

    private func endTimer() {
        tracking.timer?.cancel()
        tracking.timer = nil
    }
}

// MARK: - Observing

extension Centrals {
    private func observed(_ observations: [LinkObservation]) {
        var events: [BackendEvent?] = []
        for observation in observations {
            switch observation {
            case .completed(let attribute, let connection):
                guard let central = central(on: connection) else { continue }
                events.append(tracking.inFlight.completed(attribute, for: central))
            case .ended(let connection): tracking.connections.removeAll { $0.connection == connection }
            case .adapterGone: tracking.connections = []
            case .missed:
                tracking.connections = []
                tracking.inFlight.missed()
                // Sooner than was meant.
                endTimer()
                lookLater()
            }
        }
        reportDepartures(events)
    }

    private func central(on connection: UInt16) -> Central.ID? {
        if let central = knownCentral(on: connection) { return central }
        learnConnections()
        return knownCentral(on: connection)
    }

    private func knownCentral(on connection: UInt16) -> Central.ID? {
        tracking.connections.first { $0.connection == connection }.map { devices.id(ofLink: $0.address) }
    }

    private func learnConnections() {
        tracking.connections = adapter.flatMap { kernelLinks.links(of: $0) } ?? []
    }

    private func lookLater() {
        guard tracking.timer == nil, !tracking.isLooking, !tracking.inFlight.isEmpty else { return }
        let interval = tracking.inFlight.isInDoubt ? Self.hastyLookInterval : Self.lookInterval
        tracking.timer = connection.loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { centrals in
                centrals.tracking.timer = nil
                centrals.tracking.isLooking = true
                // bluetoothd has handed on what it was given before it answers.
                centrals.afterAnswer { $0.look() }
            }
        }
    }

    private func look() {
        tracking.isLooking = false
        guard let activity = tracking.watch?.look() else { return }
        learnConnections()
        let busy = activity.busy.compactMap { knownCentral(on: $0) }
        let completing = activity.completing.compactMap { knownCentral(on: $0) }
        let forgotten = activity.forgotten.compactMap { knownCentral(on: $0) }
        reportDepartures(
            tracking.inFlight.looked(
                { busy.contains($0) ? true : activity.isHeldUp ? nil : false },
                hasCompleted: completing.contains,
                isForgotten: forgotten.contains
            )
        )
        lookLater()
    }
}
