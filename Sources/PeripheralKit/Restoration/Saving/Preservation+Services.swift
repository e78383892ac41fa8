internal import PeripheralCore
private import Synchronization

/// Services that the program adds and removes.
extension Preservation {
    /// Records the present services, with the state of those that stay.
    ///
    /// - Parameters:
    ///   - declared: The present services.
    ///   - values: Persistent values of new services, by their value handles.
    func servicesChanged(to declared: DeclaredState, with values: [AttributeHandle: [UInt8]] = [:]) {
        let new = values
        changeSubscribers { state in
            let former = state.preserved.database
            state.preserved.database = declared.database(at: former.startsOnAir(in: declared.table))
            state.lastStarts = state.preserved.database.startsOnAir
            state.preserved.options = declared.options
            state.preserved.formats = declared.formats
            let values = state.preserved.values
            state.preserved.values = declared.persistentValues.reduce(into: [:]) { present, entry in
                present[entry.key] = new[entry.key] ?? values[entry.key] ?? entry.value.declaration.initial
            }
            state.preserved.formerValues = state.preserved.formerValues.filter {
                declared.persistentValues[$0.key] != nil
            }
            let removed = former.table.services.indices.map(former.table.serviceRange)
                .filter { declared.table[$0.lowerBound] == nil }
            return removed.flatMap { state.history.removed($0) }
        }
        change { _ in }
    }

    /// Returns the numbers of updates that wait for absent subscribers of a service.
    ///
    /// The queues contain the updates for connected subscribers.
    func waitingUpdates(of characteristics: ClosedRange<AttributeHandle>) -> [AttributeHandle: Int] {
        state.withLock { state in
            state.outbox.preserved.reduce(into: [:]) { numbers, update in
                guard characteristics.contains(update.characteristic),
                    !state.history.liveAddresses(of: update.characteristic).contains(update.address)
                else { return }
                numbers[update.characteristic, default: 0] += 1
            }
        }
    }

    /// Records the places of removed services.
    func placesChanged(to places: FormerPlaces) {
        change { $0.preserved.formerPlaces = places }
    }
}

extension PreservedDatabase {
    /// Returns the first handles on the air of the services of another table, as far as they are in this one.
    func startsOnAir(in table: AttributeTable) -> [Int: AttributeHandle] {
        var starts: [Int: AttributeHandle] = [:]
        for index in table.services.indices {
            let start = table.serviceRange(index).lowerBound
            guard case .serviceDeclaration(let former) = self.table[start]?.kind else { continue }
            starts[index] = startsOnAir[former]
        }
        return starts
    }
}
