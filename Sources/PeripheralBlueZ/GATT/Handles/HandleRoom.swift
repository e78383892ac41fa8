internal import PeripheralCore
internal import PeripheralKit

/// The handles to which a program can move the services that it has declared.
///
/// The room is a pure value.
struct HandleRoom {
    /// The handles of the services that stay.
    private let kept: [ClosedRange<AttributeHandle>]
    /// The blocks that other programs use.
    private let unavailable: Set<HandleBlock>

    /// The numbers of free handles around each service, in the order of preference.
    private static let gaps = [
        BackendPublication.handleGap, BackendPublication.handleGap / 2, BackendPublication.handleGap / 4, 0,
    ]
    private static let first: AttributeHandle = 0x0100
    /// The first handle that the Database Hash does not cover.
    private static let endOfHash: AttributeHandle = 0x0400
    /// Moved services begin at a multiple of this step, like the blocks.
    private static let step = 0x10

    init(around kept: [ClosedRange<AttributeHandle>], avoiding unavailable: Set<HandleBlock>) {
        self.kept = kept
        self.unavailable = unavailable
    }

    /// Finds room for services of the given sizes, one after the other.
    ///
    /// The services are placed from a handle on, or at the beginning if there is no room. They stay below
    /// 0x0400 if smaller gaps create enough room.
    ///
    /// - Returns: The first handles; `nil` if there is too little room.
    func starts(of sizes: [Int], from start: AttributeHandle) -> [AttributeHandle]? {
        for gap in Self.gaps {
            for start in [start, Self.first] {
                let end = Int(Self.endOfHash.rawValue)
                if let starts = layOut(sizes, from: start, to: end, gap) { return starts }
            }
        }
        return layOut(sizes, from: Self.endOfHash, to: 0x1_0000, Self.gaps[0])
    }

    private func layOut(
        _ sizes: [Int],
        from start: AttributeHandle,
        to end: Int,
        _ gap: Int
    ) -> [AttributeHandle]? {
        var starts: [AttributeHandle] = []
        var next = Int(start.rawValue).rounded(upTo: Self.step)
        for size in sizes {
            while true {
                guard next + size <= end else { return nil }
                let range =
                    AttributeHandle(
                        rawValue: UInt16(next)
                    )...AttributeHandle(rawValue: UInt16(next + size - 1))
                if let obstacle = kept.first(where: {
                    next <= Int($0.upperBound.rawValue) + gap
                        && next + size + gap > Int($0.lowerBound.rawValue)
                }) {
                    next = (Int(obstacle.upperBound.rawValue) + 1 + gap).rounded(upTo: Self.step)
                } else if range.touches(unavailable) || isNearOthers(range, gap) {
                    next += Self.step
                } else {
                    starts.append(range.lowerBound)
                    next = (next + size + gap).rounded(upTo: Self.step)
                    break
                }
            }
        }
        return starts
    }

    /// Returns whether another program uses a block within `gap` handles before or after a range.
    ///
    /// The program that uses the block may need room to grow.
    private func isNearOthers(_ range: ClosedRange<AttributeHandle>, _ gap: Int) -> Bool {
        !HandleBlock.touched(by: range.widened(by: gap)).isDisjoint(with: unavailable)
    }
}

extension ClosedRange<AttributeHandle> {
    /// Returns whether the range has handles in one of these blocks, or among the claims.
    func touches(_ blocks: Set<HandleBlock>) -> Bool {
        overlaps(HandleBlock.claims) || !HandleBlock.touched(by: self).isDisjoint(with: blocks)
    }

    /// Returns the range with the gap added on both sides, within the valid handles.
    fileprivate func widened(by gap: Int) -> Self {
        let first = Swift.max(1, Int(lowerBound.rawValue) - gap)
        let last = Swift.min(0xFFFF, Int(upperBound.rawValue) + gap)
        return AttributeHandle(rawValue: UInt16(first))...AttributeHandle(rawValue: UInt16(last))
    }
}

extension Int {
    fileprivate func rounded(upTo step: Int) -> Int { (self + step - 1) / step * step }
}
