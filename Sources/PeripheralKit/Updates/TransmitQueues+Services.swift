internal import PeripheralCore

/// The updates of services that the program adds and removes.
extension TransmitQueues {
    /// Ends the updates of a service that is about to be removed, except those in flight.
    ///
    /// Waiting values are dropped and counted. Waiting calls and documents fail, and later calls fail too.
    mutating func close(_ handles: ClosedRange<AttributeHandle>) {
        queues.closed.append(handles)
        outcome.answers += waiters.filter { handles.contains($0.characteristic) }
            .map { ($0.ticket, .failure(.serviceRemoved)) }
        waiters.removeAll { handles.contains($0.characteristic) }
        for transfer in transfers
        where handles.contains(queues.characteristics[transfer.characteristicIndex].characteristic) {
            outcome.answers.append((transfer.ticket, .failure(.serviceRemoved)))
            _ = cancelTransfer(transfer.ticket)
        }
        for place in queues.places where handles.contains(queues[place].characteristic) {
            failIndications(of: place, because: .serviceRemoved)
            turns.removeAll { $0 == place }
            for entry in queues[place].dropAll() {
                if let ticket = entry.ticket { endPart(of: ticket, .failure(.serviceRemoved)) }
                endRetained(entry.retained, .failure(.serviceRemoved))
            }
        }
    }

    /// Removes the characteristics of a removed service.
    ///
    /// - Returns: The counts of the values of each characteristic.
    mutating func remove(
        _ handles: ClosedRange<AttributeHandle>
    ) -> [(characteristic: AttributeHandle, counters: UpdateCounters)] {
        let characteristics = queues.characteristics
        for id in updatesInFlight.ids(where: {
            handles.contains(characteristics[$0.characteristicIndex].characteristic)
        }) {
            ended(id, .failure(.serviceRemoved))
        }
        var removed: [(AttributeHandle, UpdateCounters)] = []
        for number in handles.lowerBound.rawValue...handles.upperBound.rawValue {
            let characteristic = AttributeHandle(rawValue: number)
            guard let index = queues.characteristicIndex(characteristic) else { continue }
            for subscriber in queues.characteristics[index].subscribers {
                end(subscriber.central, index, because: .serviceRemoved)
            }
            if let counters = queues.remove(characteristic) { removed.append((characteristic, counters)) }
        }
        queues.closed.removeAll { $0 == handles }
        return removed
    }
}
