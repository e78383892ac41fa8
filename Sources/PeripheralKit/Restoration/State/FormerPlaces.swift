package import PeripheralCore

/// The places of removed services among the handles on the air, and the choice of places for new services.
///
/// Centrals cache attributes by handle. Therefore a new service does not take the place of a removed service
/// as long as another place is free, and a service that returns takes its earlier place.
package struct FormerPlaces: Hashable, Sendable {
    /// A service, as far as a place depends on it.
    package struct Service: Hashable, Sendable {
        /// The identity of the declaration; `nil` for a service of an earlier run.
        package var identity: DeclarationIdentity?
        package var description: ServiceDescription
        /// The constant values, in the order of the attributes.
        package var constants: [[UInt8]?]

        package init(
            identity: DeclarationIdentity? = nil,
            _ description: ServiceDescription,
            constants: [[UInt8]?] = []
        ) {
            self.identity = identity
            self.description = description
            self.constants = constants
        }

        /// The number of handles.
        var size: Int { description.attributeCount }

        /// Returns whether centrals cannot distinguish the services.
        fileprivate func isEqual(to other: Service) -> Bool {
            var (own, others) = (description, other.description)
            // The positions of included services depend on the other services of the table.
            own.includedServices = own.includedServices.map { _ in 0 }
            others.includedServices = others.includedServices.map { _ in 0 }
            return own == others && constants == other.constants
        }
    }

    /// A place that a service had.
    package struct Place: Hashable, Sendable {
        package let service: Service
        package let start: AttributeHandle
        /// The persistent values of a service of an earlier run, by the positions of their attributes.
        ///
        /// A service that the program itself has removed has no values.
        package let values: [Int: [UInt8]]

        fileprivate var handles: ClosedRange<Int> {
            Int(start.rawValue)...Int(start.rawValue) + service.size - 1
        }
    }

    /// The first handle for services whose places the framework chooses.
    ///
    /// Lower handles are reserved for the stack, and for programs whose handles the stack assigns.
    package static let first = 0x0100

    /// From this handle on, the Database Hash of some Bluetooth stacks does not change any more, for any
    /// program, until the stack restarts.
    package static let endOfHash = 0x0400

    private static let end = 0x1_0000

    /// The maximum number of places.
    static let capacity = 512

    /// The places in the order of the removals.
    private(set) package var places: [Place] = []

    /// The last handles of the places.
    var ends: [Int] { places.map(\.handles.upperBound) }

    package init() {}

    /// Records the place of a service that was removed.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - start: Its first handle.
    ///   - values: The persistent values with which the service continues when it returns.
    package mutating func removed(
        _ service: Service,
        from start: AttributeHandle,
        values: [Int: [UInt8]] = [:]
    ) {
        let place = Place(service: service, start: start, values: values)
        places.removeAll { $0.handles.overlaps(place.handles) }
        places.append(place)
        if places.count > Self.capacity { places.removeFirst() }
    }

    /// Records that a service has a place now.
    package mutating func taken(_ handles: ClosedRange<AttributeHandle>) {
        let handles = Int(handles.lowerBound.rawValue)...Int(handles.upperBound.rawValue)
        places.removeAll { $0.handles.overlaps(handles) }
    }

    /// Chooses the place of a service.
    ///
    /// 1. The place that this service has left, or an equal service.
    /// 2. The lowest place below 0x0400 that no service has had.
    /// 3. The places of removed services, beginning with the service that was removed first.
    /// 4. If permitted, the lowest free place from 0x0400 on.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - occupied: The handles that are not available, in any order.
    ///   - mayFreezeDatabaseHash: Whether the service may have a place from 0x0400 on.
    /// - Returns: The first handle; `nil` if there is no place.
    package func place(
        for service: Service,
        besides occupied: [ClosedRange<AttributeHandle>],
        mayFreezeDatabaseHash: Bool = false
    ) -> AttributeHandle? {
        let occupied = occupied.map { Int($0.lowerBound.rawValue)...Int($0.upperBound.rawValue) }
        let free = places.filter { place in
            (mayFreezeDatabaseHash || place.handles.upperBound < Self.endOfHash)
                && !occupied.contains { $0.overlaps(place.handles) }
        }
        if let place = Self.place(of: service, in: free) { return place.start }
        let used = occupied + places.map(\.handles)
        var start =
            Self.gap(of: service.size, from: Self.first, to: Self.endOfHash, between: used)
            ?? oldest(of: service.size, besides: occupied)
        if start == nil, mayFreezeDatabaseHash {
            start = Self.gap(of: service.size, from: Self.endOfHash, to: Self.end, between: used)
        }
        return start.map { AttributeHandle(rawValue: UInt16($0)) }
    }

    /// Records that a service returns, and forgets the place that it or an equal service has left.
    ///
    /// - Returns: The persistent values of the service, by the positions of their attributes.
    mutating func returned(_ service: Service) -> [Int: [UInt8]] {
        guard let place = Self.place(of: service, in: places) else { return [:] }
        places.removeAll { $0.start == place.start }
        return place.values
    }

    /// Returns the place that a service, or else an equal service, has left.
    private static func place(of service: Service, in places: [Place]) -> Place? {
        let own = service.identity.flatMap { identity in
            places.first { $0.service.identity == identity && $0.service.size == service.size }
        }
        return own ?? places.first { $0.service.isEqual(to: service) }
    }

    /// Returns a place that consists of the places of removed services, as few and as old as possible.
    private func oldest(of size: Int, besides occupied: [ClosedRange<Int>]) -> Int? {
        for count in places.indices.map({ $0 + 1 }) {
            let used = occupied + places.dropFirst(count).map(\.handles)
            if let start = Self.gap(of: size, from: Self.first, to: Self.endOfHash, between: used) {
                return start
            }
        }
        return nil
    }

    /// Returns the lowest place for so many handles between occupied ranges.
    private static func gap(
        of size: Int,
        from first: Int,
        to end: Int,
        between used: [ClosedRange<Int>]
    ) -> Int? {
        var start = first
        for range in used.inOrder(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound >= start {
            guard start + size > range.lowerBound else { break }
            start = range.upperBound + 1
        }
        return start + size <= end ? start : nil
    }
}
