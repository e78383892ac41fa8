internal import PeripheralCore

/// Where the services of a declaration are to begin on the air, so that what was there before stays.
///
/// A service stays where it was if it finds room there. One that has grown moves when another stands behind it; one that is
/// new goes where the stack has room, as does one that moves.
struct HandlePlan {
    /// By the place of the service in the table; a service that is left to the stack is not in it.
    private(set) var startsOnAir: [Int: AttributeHandle] = [:]

    /// - Parameters:
    ///   - table: What is declared.
    ///   - old: What was published; `nil` for nothing.
    ///   - match: What of the one is what of the other.
    init(for table: AttributeTable, after old: PreservedDatabase?, _ match: DatabaseMatch) {
        var taken: [ClosedRange<AttributeHandle>] = []
        for (index, service) in table.services.enumerated() where service.handle != nil {
            let range = table.serviceRange(index)
            startsOnAir[index] = range.lowerBound
            taken.append(range)
        }
        let known = table.services.indices.compactMap { index -> Candidate? in
            guard startsOnAir[index] == nil, let old else { return nil }
            return Candidate(index, of: table, after: old, match)
        }
        // Those that have not grown first: nothing but a pinned service is in their way.
        for candidate in known.filter({ !$0.hasGrown }) + known.filter(\.hasGrown) {
            guard !taken.contains(where: candidate.range.overlaps) else { continue }
            startsOnAir[candidate.service] = candidate.range.lowerBound
            taken.append(candidate.range)
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
