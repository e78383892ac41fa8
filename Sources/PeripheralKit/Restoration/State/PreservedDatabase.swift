package import PeripheralCore

/// The attributes of a peripheral and their positions on the air.
package struct PreservedDatabase: Hashable, Sendable {
    /// The attributes.
    ///
    /// Centrals identify attributes by the handles on the air.
    package let table: AttributeTable

    /// The constant values, by their handles in the table.
    package var staticValues: [AttributeHandle: [UInt8]]

    /// The first handle of each service on the air, by the index of the service.
    ///
    /// Services whose handle the stack has not reported are not included. The attributes of a service have no
    /// gaps, so the first handle of a service determines all its handles.
    package var startsOnAir: [Int: AttributeHandle]

    package init(
        table: AttributeTable,
        staticValues: [AttributeHandle: [UInt8]] = [:],
        startsOnAir: [Int: AttributeHandle] = [:]
    ) {
        self.table = table
        self.staticValues = staticValues
        self.startsOnAir = startsOnAir
    }

    /// Returns the handle of an attribute on the air; `nil` when the stack has not reported it.
    package func handleOnAir(of handle: AttributeHandle) -> AttributeHandle? {
        guard let service = table[handle]?.kind.service, let start = startsOnAir[service] else { return nil }
        return start.advanced(by: handle.offset(from: table.serviceRange(service).lowerBound))
    }

    /// The last handles of the services that the stack had placed.
    var ends: [Int] {
        startsOnAir.compactMap { service, start in
            guard table.services[service].handle == nil else { return nil }
            let range = table.serviceRange(service)
            return Int(start.rawValue) + Int(range.upperBound.rawValue - range.lowerBound.rawValue)
        }
    }
}

// MARK: - Database Hash

extension PreservedDatabase {
    /// An attribute in the input of the Database Hash.
    struct HashedAttribute: Equatable {
        var handle: AttributeHandle
        var type: BluetoothUUID
        var value: [UInt8]
    }

    /// The input of the Database Hash, with handles (Core Specification, Vol 3, Part G, 7.3); `nil` when the
    /// handles are not known.
    var hashedAttributes: [HashedAttribute]? {
        guard let onAir = tableOnAir else { return nil }
        return onAir.attributes.compactMap { attribute in
            if case .characteristicValue = attribute.kind { return nil }
            return HashedAttribute(
                handle: attribute.handle,
                type: attribute.type,
                value: onAir.fixedValue(of: attribute.handle) ?? []
            )
        }
    }

    /// The table with the handles on the air.
    private var tableOnAir: AttributeTable? {
        var services = table.services
        for index in services.indices {
            guard let start = startsOnAir[index] else { return nil }
            services[index].handle = start
        }
        return try? AttributeTable(services: services)
    }
}
