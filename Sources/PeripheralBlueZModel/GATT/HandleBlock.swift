package import PeripheralCore

/// A range of handles that belongs to one program at a time.
///
/// bluetoothd does not keep programs apart that request handles: it returns another program's service when
/// type, UUID, size and first handle are equal, and it accepts a range that encloses another service
/// (`gatt_db_insert_service` and `find_insert_loc` in gatt-db.c). So a program claims every block that its
/// services touch, before it registers them. A claim is a secondary service of one handle, whose UUID no
/// other program has: bluetoothd refuses the second claim of a block.
///
/// Blocks have 16 handles. Only the last one below 0x0400 is larger, and the four above.
package struct HandleBlock: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 0 to 62.
    package let number: UInt8

    /// The handles of the claims, which no service may use.
    package static let claims: ClosedRange<AttributeHandle> = 0x00C0...0x00FF

    /// The last of these handles, which claims nothing: a service that is there for a moment has bluetoothd
    /// place all others behind the claims.
    package static var endOfClaims: AttributeHandle { claims.upperBound }

    /// The handle that stands for the block.
    package var claim: AttributeHandle {
        AttributeHandle(rawValue: Self.claims.lowerBound.rawValue + UInt16(number))
    }

    /// The block of a handle.
    package init(of handle: AttributeHandle) {
        // The numbers 12 to 15 are those of the claims' own handles, which are in no block.
        number =
            switch handle.rawValue {
            case ..<0x0400: UInt8(min(handle.rawValue >> 4, 62))
            case ..<0x1000: 12
            case ..<0x4000: 13
            case ..<0x8000: 14
            default: 15
            }
    }

    /// The blocks that a range of handles touches.
    package static func touched(by range: ClosedRange<AttributeHandle>) -> Set<HandleBlock> {
        var blocks: Set<HandleBlock> = [HandleBlock(of: range.upperBound)]
        // Any two handles that are 16 apart are in the same block or in neighboring ones.
        for handle in stride(from: range.lowerBound.rawValue, through: range.upperBound.rawValue, by: 16) {
            blocks.insert(HandleBlock(of: AttributeHandle(rawValue: handle)))
        }
        return blocks
    }

    /// The blocks that ranges of handles touch, but for those that reach into the claims, which nothing can claim.
    package static func touched(by ranges: [ClosedRange<AttributeHandle>]) -> Set<HandleBlock> {
        Set(ranges.filter { !$0.overlaps(claims) }.flatMap(touched))
    }

    /// All handles of the block, for a person.
    package var description: String {
        switch number {
        case 62: "0x03e0 to 0x03ff"
        case 12: "0x0400 to 0x0fff"
        case 13: "0x1000 to 0x3fff"
        case 14: "0x4000 to 0x7fff"
        case 15: "0x8000 to 0xffff"
        default:
            "\(AttributeHandle(rawValue: UInt16(number) << 4)) to \(AttributeHandle(rawValue: UInt16(number) << 4 | 0xF))"
        }
    }

    package static func < (left: HandleBlock, right: HandleBlock) -> Bool { left.number < right.number }
}
