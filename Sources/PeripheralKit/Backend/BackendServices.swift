public import PeripheralCore

/// Services that a backend registers together.
public struct BackendServices: Hashable, Sendable {
    /// The attributes, in order.
    ///
    /// The host and the backend identify each attribute by its handle in this table. No other present
    /// attribute of the peripheral has the same handle in its table.
    public let table: AttributeTable

    /// The constant user descriptions, by the value handles of their characteristics in ``table``.
    package let userDescriptions: [AttributeHandle: String]

    /// The maximum lengths that the declaration states, by the value handles of their characteristics in
    /// ``table``.
    package let maximumLengths: [AttributeHandle: Int]

    /// The preferred on-air handle of each attribute.
    ///
    /// See ``BackendPublication/preservedHandles``.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// The indices of the services that no central has discovered yet.
    ///
    /// See ``BackendPublication/newServices``.
    public let newServices: Set<Int>

    /// The places of removed services, from which the backend chooses if it cannot use the preferred handles;
    /// `nil` for services that are declared before the run.
    package let formerPlaces: FormerPlaces?

    /// Whether the services may use handles from 0x0400 on.
    package let mayFreezeDatabaseHash: Bool

    /// Whether the services return after a refused replacement.
    ///
    /// If the stack refuses them too, they stay part of the peripheral, and the addition succeeds.
    package var areReturning = false

    package init(
        table: AttributeTable,
        userDescriptions: [AttributeHandle: String] = [:],
        maximumLengths: [AttributeHandle: Int] = [:],
        preservedHandles: [AttributeHandle: AttributeHandle],
        newServices: Set<Int>,
        formerPlaces: FormerPlaces? = nil,
        mayFreezeDatabaseHash: Bool = false
    ) {
        self.table = table
        self.userDescriptions = userDescriptions
        self.maximumLengths = maximumLengths
        self.preservedHandles = preservedHandles
        self.newServices = newServices
        self.formerPlaces = formerPlaces
        self.mayFreezeDatabaseHash = mayFreezeDatabaseHash
    }
}

extension BackendServices {
    /// How long a removal waits for the confirmation of an indication, before the central is disconnected.
    package static let confirmationLimit = Duration.seconds(5)

    /// The preferred first handles of the services that are not pinned, by their indices.
    package var preferredStarts: [Int: AttributeHandle] {
        var starts: [Int: AttributeHandle] = [:]
        for service in table.services.indices where table.services[service].handle == nil {
            starts[service] = preservedHandles[table.serviceRange(service).lowerBound]
        }
        return starts
    }

    /// Returns the first handles of the services that are not pinned, at other places if necessary.
    ///
    /// - Parameters:
    ///   - services: The indices of the services.
    ///   - preferred: Returns the preferred first handle of a service.
    ///   - occupied: The handles that are not available.
    /// - Returns: `nil` if there is no place for a service.
    package func starts(
        of services: [Int],
        preferring preferred: (Int) -> AttributeHandle?,
        besides occupied: [ClosedRange<AttributeHandle>]
    ) -> [Int: AttributeHandle]? {
        var occupied = occupied + table.services.indices.compactMap(table.pinnedRange)
        var starts: [Int: AttributeHandle] = [:]
        for service in services {
            let wish = preferred(service).flatMap { range(of: service, from: $0) }
            let isFree = wish.map { !occupied.contains(where: $0.overlaps) }
            let place =
                isFree == true
                ? wish?.lowerBound
                : formerPlaces?.place(
                    for: FormerPlaces.Service(table.services[service]),
                    besides: occupied,
                    mayFreezeDatabaseHash: mayFreezeDatabaseHash
                )
            guard let place, let handles = range(of: service, from: place) else { return nil }
            occupied.append(handles)
            starts[service] = place
        }
        return starts
    }

    private func range(of service: Int, from start: AttributeHandle) -> ClosedRange<AttributeHandle>? {
        let range = table.serviceRange(service)
        return start.advanced(by: range.upperBound.offset(from: range.lowerBound)).map { start...$0 }
    }
}

extension BackendPublication {
    /// The services at the start of the run.
    package var services: BackendServices {
        BackendServices(
            table: table,
            userDescriptions: userDescriptions,
            maximumLengths: maximumLengths,
            preservedHandles: preservedHandles,
            newServices: newServices
        )
    }

    /// Returns the publication that would consist of some services alone, for an examination.
    package func with(_ services: BackendServices) -> BackendPublication {
        BackendPublication(
            name: name,
            table: services.table,
            userDescriptions: services.userDescriptions,
            maximumLengths: services.maximumLengths,
            advertisements: [],
            pairing: pairing,
            asksBeforeReplacingBonds: asksBeforeReplacingBonds,
            preservedHandles: services.preservedHandles,
            newServices: services.newServices
        )
    }
}
