internal import PeripheralCore

extension PreservedState {
    /// The same state with the handles that a table of its services has from the beginning.
    ///
    /// In a running peripheral, services that were added have other handles in the table. If the services do
    /// not fit into a table from the beginning, because one is pinned, they keep their handles.
    var renumbered: PreservedState {
        guard let table = try? AttributeTable(services: database.table.services), table != database.table
        else { return self }
        let pairs = table.services.indices.flatMap { service in
            zip(database.table.attributes(ofService: service), table.attributes(ofService: service))
        }
        let handles = Dictionary(uniqueKeysWithValues: pairs.map { ($0.handle, $1.handle) })
        var state = self
        state.database = PreservedDatabase(
            table: table,
            staticValues: database.staticValues.renumbered(by: handles),
            startsOnAir: database.startsOnAir
        )
        state.values = values.renumbered(by: handles)
        state.formerValues = formerValues.renumbered(by: handles)
        state.options = options.renumbered(by: handles)
        state.formats = formats.mapValues { $0.compactMap { handles[$0] } }.renumbered(by: handles)
        state.subscribers = subscribers.compactMap { subscriber in
            var subscriber = subscriber
            guard let handle = handles[subscriber.characteristic] else { return nil }
            subscriber.characteristic = handle
            return subscriber
        }
        state.updates = updates.compactMap { update in
            handles[update.characteristic].map {
                PreservedUpdate(characteristic: $0, address: update.address, value: update.value)
            }
        }
        return state
    }
}

extension Dictionary where Key == AttributeHandle {
    /// Returns the entries with new handles, without those that have none.
    fileprivate func renumbered(by handles: [AttributeHandle: AttributeHandle]) -> Self {
        reduce(into: [:]) { renumbered, entry in
            if let handle = handles[entry.key] { renumbered[handle] = entry.value }
        }
    }
}

extension FormerPlaces {
    /// The places in the form of a database, in the order of the removals, with the persistent values.
    ///
    /// Services that include others are not part of it, because the others may be present. Pinned services
    /// are not part of it, because they have their handles in every run. The database is `nil` if the
    /// services do not fit into one table.
    var database: (database: PreservedDatabase, values: [AttributeHandle: [UInt8]])? {
        let places = places.filter {
            $0.service.description.includedServices.isEmpty && $0.service.description.handle == nil
        }
        guard let table = try? AttributeTable(services: places.map(\.service.description)) else { return nil }
        var staticValues: [AttributeHandle: [UInt8]] = [:]
        var values: [AttributeHandle: [UInt8]] = [:]
        for (index, place) in places.enumerated() {
            for (position, attribute) in table.attributes(ofService: index).enumerated() {
                staticValues[attribute.handle] =
                    place.service.constants.indices.contains(position)
                    ? place.service.constants[position] : nil
                values[attribute.handle] = place.values[position]
            }
        }
        let starts = places.enumerated().map { ($0, $1.start) }
        let database = PreservedDatabase(
            table: table,
            staticValues: staticValues,
            startsOnAir: Dictionary(uniqueKeysWithValues: starts)
        )
        return (database, values)
    }

    init(_ database: PreservedDatabase, values: [AttributeHandle: [UInt8]]) {
        self.init()
        for index in database.table.services.indices {
            guard let start = database.startsOnAir[index] else { continue }
            removed(
                database.service(index),
                from: start,
                values: database.values(ofService: index, among: values)
            )
        }
    }
}

extension PreservedDatabase {
    /// Returns a service with its constant values, for a comparison with services that had a place.
    func service(_ index: Int) -> FormerPlaces.Service {
        FormerPlaces.Service(
            table.services[index],
            constants: table.attributes(ofService: index).map { staticValues[$0.handle] }
        )
    }

    /// Returns the values of a service, by the positions of their attributes.
    func values(
        ofService index: Int,
        among values: [AttributeHandle: [UInt8]]
    ) -> [Int: [UInt8]] {
        var byPosition: [Int: [UInt8]] = [:]
        for (position, attribute) in table.attributes(ofService: index).enumerated() {
            byPosition[position] = values[attribute.handle]
        }
        return byPosition
    }
}
