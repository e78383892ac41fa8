internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// When updates have left, which bluetoothd does not tell: its queues have no end, and it takes whatever it is given.
extension Centrals {
    /// How often is looked at the links on which something is missing.
    private static let lookInterval = Duration.milliseconds(200)
    /// How often, when some of what they have carried went unseen.
    private static let hastyLookInterval = Duration.milliseconds(50)

    /// How it is known what has left.
    var pacing: UpdatePacing {
        if watch != nil { return .observed }
        return estimate == nil ? .unknown : .estimated
    }

    func watchDepartures(from adapter: ObjectPath) {
        endDepartures()
        watch = linkSecurity.watch(adapter, on: connection.loop) { [weak self] observations in
            self?.assumeIsolated { $0.observed(observations) }
        }
        if watch == nil { beginEstimate(of: adapter) }
    }

    func endDepartures() {
        watch?.close()
        watch = nil
        lookTimer?.cancel()
        lookTimer = nil
        endEstimate()
        (departures, connections) = (Departures(), [:])
    }

    /// Takes note that bluetoothd is being given an update.
    func willDepart(_ update: Update, for centrals: [Central.ID]) {
        switch pacing {
        case .observed:
            guard let attribute = handles.onAir(update.characteristic) else { return }
            // An indication ends when it is confirmed.
            departures.given(update.awaitsConfirmation ? nil : update.id, of: attribute, for: centrals)
            lookLater()
        case .estimated: willProbablyDepart(update, for: centrals)
        case .unknown: break
        }
    }

    /// Takes note that bluetoothd has not been given an update after all.
    func willNotDepart(_ update: Update) {
        // That it has come to its end by that is not true.
        _ = departures.taken(update.id, .failed(.withheld))
    }

    /// Takes note that an update was taken by socket or bus, or could not be.
    func taken(_ update: Update, _ outcome: UpdateOutcome) {
        reportDepartures([departures.taken(update.id, outcome)])
    }

    /// Takes note that nothing leaves for a central any more.
    func settleDepartures(for central: Central.ID) {
        connections = connections.filter { $0.value != central }
        estimate?.settled(central)
        reportDepartures(departures.settled(central))
    }

    private func observed(_ observations: [LinkObservation]) {
        var events: [BackendEvent?] = []
        for observation in observations {
            switch observation {
            case .departed(let attribute, let connection):
                guard let central = central(on: connection) else { continue }
                events.append(departures.departed(attribute, for: central))
            case .ended(let connection): connections[connection] = nil
            case .adapterGone: connections = [:]
            case .missed:
                connections = [:]
                departures.missed()
                // Sooner than was meant.
                if lookTimer != nil {
                    lookTimer?.cancel()
                    lookTimer = nil
                    lookLater()
                }
            }
        }
        reportDepartures(events)
    }

    func reportDepartures(_ events: [BackendEvent?]) {
        // Nothing is looked for any more, so that a program that sends now and then is not woken up once more.
        if departures.isEmpty {
            lookTimer?.cancel()
            lookTimer = nil
        }
        for event in events { event.map(report) }
    }

    private func central(on connection: UInt16) -> Central.ID? {
        if connections[connection] == nil { learnConnections() }
        return connections[connection]
    }

    private func learnConnections() {
        guard let adapter, let links = linkSecurity.links(of: adapter) else { return }
        connections = Dictionary(
            links.map { ($0.connection, Central.ID(address: $0.address)) },
            uniquingKeysWith: { $1 }
        )
    }

    private func lookLater() {
        guard lookTimer == nil, !isLooking, !departures.isEmpty else { return }
        let interval = departures.isInDoubt ? Self.hastyLookInterval : Self.lookInterval
        lookTimer = connection.loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { centrals in
                centrals.lookTimer = nil
                centrals.isLooking = true
                // bluetoothd has handed on what it was given before it answers.
                centrals.afterAnswer { $0.look() }
            }
        }
    }

    private func look() {
        isLooking = false
        learnConnections()
        guard let activity = watch?.look() else { return }
        let busy = Set(activity.busy.compactMap { connections[$0] })
        reportDepartures(departures.looked { activity.isHeldUp || busy.contains($0) })
        lookLater()
    }
}

extension PeripheralError {
    fileprivate static let withheld = PeripheralError(code: .notSubscribed, message: "It is to be sent later.")
}
