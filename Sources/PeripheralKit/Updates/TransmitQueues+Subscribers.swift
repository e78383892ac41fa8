internal import PeripheralCore

/// The beginning and the end of subscriptions.
extension TransmitQueues {
    /// Handles a subscription.
    ///
    /// If the central has subscribed already, the subscription starts again.
    mutating func subscribed(
        _ central: Central.ID?,
        to characteristic: AttributeHandle,
        isAddressable: Bool,
        sharesUpdatesForAll: Bool = false,
        takesIndications: Bool = true
    ) {
        let outlet = makeOutlet(characteristic)
        if central != nil { end(central, outlet, because: .notSubscribed, isAnew: true) }
        guard outlets[outlet].subscriber(central) == nil else { return }
        let subscriber = SubscribedCharacteristic.Subscriber(
            central: central,
            isAddressable: isAddressable && central != nil,
            sharesUpdatesForAll: sharesUpdatesForAll,
            takesIndications: takesIndications,
            lane: central.map { [makeLane(of: outlet, to: $0)] } ?? []
        )
        let shared = outlets[outlet].shared.isEmpty ? makeLane(of: outlet, to: nil) : nil
        outlets[outlet].add(subscriber, shared: shared)
        joinTransfers(subscriber, of: outlet)
    }

    private mutating func makeLane(of outlet: Int, to central: Central.ID?) -> Place {
        let (characteristic, policy) = (outlets[outlet].characteristic, outlets[outlet].policy)
        return lanes.insert(SubscriberQueue(outlet: outlet, of: characteristic, to: central, policy))
    }

    /// Updates the data of a central.
    mutating func connected(_ central: Central) {
        receivers.setMaximumLength(central.maximumUpdateValueLength, for: central.id)
    }

    /// Records whether a subscriber can be reached alone, and whether it may confirm later updates.
    mutating func changed(
        _ central: Central.ID?,
        of characteristic: AttributeHandle,
        isAddressable: Bool,
        takesIndications: Bool = true
    ) {
        guard let outlet = outlet(characteristic) else { return }
        outlets[outlet].change(central, isAddressable: isAddressable, takesIndications: takesIndications)
    }

    /// Handles the end of a subscription.
    mutating func unsubscribed(_ central: Central.ID?, from characteristic: AttributeHandle) {
        guard let outlet = outlet(characteristic) else { return }
        end(central, outlet, because: .notSubscribed)
    }

    /// Handles a disconnection, which ends all subscriptions of the central.
    mutating func disconnected(_ central: Central.ID) {
        for outlet in outlets.indices { end(central, outlet, because: .disconnected) }
        receivers.remove(central)
        flights.changeAll { flight in
            if flight.receivers.contains(central) { flight.receivers.removeAll { $0 == central } }
        }
    }

    /// Ends all subscriptions.
    ///
    /// Updates in flight will not be reported any more.
    mutating func suspended() {
        for outlet in outlets.indices {
            for subscriber in outlets[outlet].subscribers {
                end(subscriber.central, outlet, because: .disconnected)
            }
        }
        for flight in flights.removeAll() {
            outlets[flight.outlet].past.dropped += 1
            guard let ticket = flight.ticket else { continue }
            settle(ticket, .failure(.disconnected))
        }
        for indication in countedIndications { indicationEnded(indication.id, .failure(.disconnected)) }
        receivers.removeAll()
    }

    private mutating func end(
        _ central: Central.ID?,
        _ outlet: Int,
        because error: PeripheralError,
        isAnew: Bool = false
    ) {
        let idle = outlets[outlet].remove(central)
        for place in idle { close(place, because: error) }
        if let central {
            let characteristic = outlets[outlet].characteristic
            func isGone(_ waiter: Waiter) -> Bool {
                waiter.characteristic == characteristic && waiter.recipients == .central(central)
            }
            outcome.answers += waiters.filter(isGone).map { ($0.ticket, .failure(error)) }
            waiters.removeAll(where: isGone)
        }
        leaveTransfers(central, outlet, closing: idle, because: isAnew ? nil : error)
    }

    /// Removes a lane and drops its waiting values.
    private mutating func close(_ place: Place, because error: PeripheralError) {
        let lane = lanes.remove(place)
        outlets[lane.outlet].past.add(lane.finalCounters)
        turns.removeAll { $0 == place }
        flights.changeAll { if $0.lane == place { $0.lane = nil } }
        for index in countedIndications.indices where countedIndications[index].lane == place {
            countedIndications[index].lane = nil
            countedIndications[index].isOutlived = lane.central != nil
        }
        for ticket in lane.entries.compactMap(\.ticket) { settle(ticket, .failure(error)) }
    }
}
