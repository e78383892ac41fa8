internal import PeripheralCore

/// Plans the first handles of services on the air, so that earlier services keep their handles.
///
/// A service keeps its position if it still fits there. A gap behind each service leaves room for growth. A
/// new service, or a service that outgrows its gap, moves behind all other services.
struct HandlePlan {
    /// The planned first handles, by the index of the service.
    ///
    /// Services that the stack places are not included.
    private(set) var startsOnAir: [Int: AttributeHandle] = [:]

    /// The services that keep their earlier position.
    private(set) var kept: Set<Int> = []

    /// The first handle for new services.
    ///
    /// Lower handles are reserved for the stack, and for programs whose handles the stack assigns.
    private static let first = 0x0100

    /// From this handle on, the Database Hash of some Bluetooth stacks does not change any more, so gaps are
    /// not useful.
    private static let endOfHash = 0x0400

    /// - Parameters:
    ///   - table: The declaration.
    ///   - old: The earlier database; `nil` without an earlier database.
    ///   - match: The elements that both databases have in common.
    ///   - formerPlaces: The places of services that were removed before.
    init(
        for table: AttributeTable,
        after old: PreservedDatabase?,
        _ match: DatabaseMatch,
        besides formerPlaces: FormerPlaces = FormerPlaces()
    ) {
        var taken: [ClosedRange<AttributeHandle>] = []
        for (index, service) in table.services.enumerated() where service.handle != nil {
            let range = table.serviceRange(index)
            startsOnAir[index] = range.lowerBound
            kept.insert(index)
            taken.append(range)
        }
        let pinned = taken
        let known = table.services.indices.compactMap { index -> Candidate? in
            guard startsOnAir[index] == nil, let old else { return nil }
            return Candidate(index, of: table, after: old, match)
        }
        // Services that have not grown are placed first, because only a pinned service can block their
        // positions.
        for candidate in known.filter({ !$0.hasGrown }) + known.filter(\.hasGrown) {
            guard !taken.contains(where: candidate.range.overlaps) else { continue }
            startsOnAir[candidate.service] = candidate.range.lowerBound
            kept.insert(candidate.service)
            taken.append(candidate.range)
        }
        // New services are also placed behind removed services, because centrals may have cached the removed
        // services.
        let behind =
            taken.dropFirst(pinned.count).map { Int($0.upperBound.rawValue) } + (old?.ends ?? [])
            + formerPlaces.ends
        place(
            table.services.indices.filter { startsOnAir[$0] == nil },
            of: table,
            behind: behind.max(),
            around: pinned,
            besides: taken,
            formerPlaces
        )
    }

    /// Places services one behind the other, with gaps as large as the room allows.
    private mutating func place(
        _ services: [Int],
        of table: AttributeTable,
        behind last: Int?,
        around pinned: [ClosedRange<AttributeHandle>],
        besides taken: [ClosedRange<AttributeHandle>],
        _ formerPlaces: FormerPlaces
    ) {
        let layouts = [
            BackendPublication.handleGap, BackendPublication.handleGap / 2, BackendPublication.handleGap / 4,
            0,
        ].map {
            gap in
            Layout(services.map { table.serviceRange($0).count }, behind: last, around: pinned, gap: gap)
        }
        var layout = layouts.first { $0.end <= Self.endOfHash }
        if layout == nil, placeBetween(services, of: table, besides: taken, formerPlaces) { return }
        layout = layout ?? layouts.first { $0.end <= 0x1_0000 }
        for (service, start) in zip(services, layout?.starts ?? []) {
            startsOnAir[service] = UInt16(exactly: start).map(AttributeHandle.init(rawValue:))
        }
    }

    /// Places services between the others, if there is no room behind them.
    ///
    /// - Returns: Whether there is room below 0x0400 for all of them.
    private mutating func placeBetween(
        _ services: [Int],
        of table: AttributeTable,
        besides taken: [ClosedRange<AttributeHandle>],
        _ formerPlaces: FormerPlaces
    ) -> Bool {
        var taken = taken
        var starts: [Int: AttributeHandle] = [:]
        for service in services {
            let range = table.serviceRange(service)
            let place = formerPlaces.place(for: FormerPlaces.Service(table.services[service]), besides: taken)
            guard let place, let end = place.advanced(by: range.upperBound.offset(from: range.lowerBound))
            else { return false }
            taken.append(place...end)
            starts[service] = place
        }
        startsOnAir.merge(starts) { $1 }
        return true
    }

    /// The positions of services with given sizes.
    private struct Layout {
        var starts: [Int] = []
        /// The position behind the last handle.
        var end: Int

        init(
            _ sizes: [Int],
            behind last: Int?,
            around pinned: [ClosedRange<AttributeHandle>],
            gap: Int
        ) {
            var next = max(HandlePlan.first, last.map { $0 + 1 + gap } ?? 0)
            end = next
            for size in sizes {
                while let obstacle = pinned.first(where: {
                    next <= Int($0.upperBound.rawValue) + gap
                        && next + size + gap > Int($0.lowerBound.rawValue)
                }) {
                    next = Int(obstacle.upperBound.rawValue) + 1 + gap
                }
                starts.append(next)
                end = next + size
                next = end + gap
            }
        }
    }

    private struct Candidate {
        let service: Int
        let range: ClosedRange<AttributeHandle>
        let hasGrown: Bool

        init?(_ service: Int, of table: AttributeTable, after old: PreservedDatabase, _ match: DatabaseMatch)
        {
            let range = table.serviceRange(service)
            guard let former = match.former[range.lowerBound],
                let formerService = old.table[former]?.kind.service,
                let start = old.startsOnAir[formerService],
                let end = start.advanced(by: range.upperBound.offset(from: range.lowerBound))
            else { return nil }
            self.service = service
            self.range = start...end
            hasGrown = range.count > old.table.serviceRange(formerService).count
        }
    }
}

extension ClosedRange<AttributeHandle> {
    fileprivate var count: Int { Int(upperBound.rawValue - lowerBound.rawValue) + 1 }
}
