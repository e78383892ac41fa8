internal import PeripheralCore

/// What is indicated waits for its turn in ``IndicationQueues``; here it is only counted among the values.
extension TransmitQueues {
    /// A value that is indicated, until it is confirmed.
    struct CountedIndication {
        let id: Update.ID
        /// The characteristic, by its place among those that can be updated.
        let outlet: Int
        /// That to its central, or to all together; `nil` when there is none, or none any more.
        var lane: Place?
        let since: Duration
        var isHandedOn = false
        /// Whether the subscription is over that it is for.
        var isOutlived = false
    }

    /// Takes note that a value is to be indicated.
    mutating func willIndicate(
        _ update: Update,
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

    /// Takes note that a value that is indicated has been handed on.
    mutating func indicationHandedOn(_ id: Update.ID, at now: Duration) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        countedIndications[index].isHandedOn = true
        let indication = countedIndications[index]
        count(by: indication.lane, of: indication.outlet) { $0.count(wait: now - indication.since) }
    }

    /// Takes note that a value was confirmed, or is not going to be.
    mutating func indicationEnded(_ id: Update.ID, _ result: Result<Void, PeripheralError>) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        let indication = countedIndications.remove(at: index)
        count(by: indication.lane, of: indication.outlet) { $0.count(result) }
    }

    /// How many values that are indicated wait for their turn, and how many are to be confirmed.
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
