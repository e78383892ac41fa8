internal import PeripheralCore

/// Counts of indications, which wait for their turn in ``IndicationQueues``.
extension TransmitQueues {
    /// An indication until it is confirmed.
    struct CountedIndication {
        let id: BackendUpdate.ID
        /// The index of the characteristic among those that can be updated.
        let outlet: Int
        /// The lane to its central, or to all together; `nil` when there is no such lane.
        var lane: Place?
        let since: Duration
        var isHandedOn = false
        /// Whether its subscription has ended.
        var isOutlived = false
    }

    /// Records a new indication.
    mutating func willIndicate(
        _ update: BackendUpdate,
        hasToWait: Bool,
        at now: Duration
    ) {
        let outlet = makeOutlet(update.characteristic)
        let lane: Place? =
            switch update.recipients {
            case .subscribers: outlets[outlet].shared.first
            case .central(let central): outlets[outlet].subscriber(central)?.lane.first
            }
        countedIndications.append(CountedIndication(id: update.id, outlet: outlet, lane: lane, since: now))
        if hasToWait { count(by: lane, of: outlet) { $0.waits += 1 } }
    }

    /// Records that an indication was handed to the stack.
    mutating func indicationHandedOn(_ id: BackendUpdate.ID, at now: Duration) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        countedIndications[index].isHandedOn = true
        let indication = countedIndications[index]
        count(by: indication.lane, of: indication.outlet) { $0.count(wait: now - indication.since) }
    }

    /// Records that an indication was confirmed, or will not be confirmed.
    mutating func indicationEnded(_ id: BackendUpdate.ID, _ result: Result<Void, PeripheralError>) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        let indication = countedIndications.remove(at: index)
        count(by: indication.lane, of: indication.outlet) { $0.count(result) }
    }

    /// Returns how many indications wait for their turn, and how many await confirmation.
    func indications(
        where isMeant: (CountedIndication) -> Bool
    ) -> (queued: Int, inFlight: Int) {
        let meant = countedIndications.filter(isMeant)
        let inFlight = meant.count(where: \.isHandedOn)
        return (meant.count - inFlight, inFlight)
    }

    private mutating func count(by lane: Place?, of outlet: Int, _ change: (inout UpdateCounters) -> Void) {
        if let lane { change(&lanes[lane].counters) } else { change(&outlets[outlet].past) }
    }
}
