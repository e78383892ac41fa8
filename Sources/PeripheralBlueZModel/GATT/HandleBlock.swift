package import PeripheralCore

/// A range of handles that one program uses at a time.
///
/// bluetoothd does not separate programs that request handles:
///
/// - It returns another program's service if type, UUID, size and first handle are equal.
/// - It accepts a range that encloses another service.
///
/// See `gatt_db_insert_service` and `find_insert_loc` in gatt-db.c. Therefore a program claims every block
/// that its services touch before it registers the services. A claim is a secondary service of one handle,
/// with a UUID that no other program uses. bluetoothd refuses a second claim of a block.
///
/// Blocks have 16 handles. Only the last block below 0x0400 and the four blocks above it are larger.
package struct HandleBlock: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the block, 0 to 62.
    package let number: UInt8

    /// The handles of the claims, which no service may use.
    package static let claims: ClosedRange<AttributeHandle> = 0x00C0...0x00FF

    /// The last handle of ``claims``, which claims no block.
    ///
    /// If a service is registered at this handle for a moment, bluetoothd places all other services after the
    /// claims.
    package static var endOfClaims: AttributeHandle { claims.upperBound }

    /// The handle that claims the block.
    package var claim: AttributeHandle {
        AttributeHandle(rawValue: Self.claims.lowerBound.rawValue + UInt16(number))
    }

    /// The blocks from 0x0100 on that the Database Hash covers, in order.
    package static let belowEndOfHash: [HandleBlock] = (16...62).map {
        HandleBlock(of: AttributeHandle(rawValue: UInt16($0) << 4))
    }

    /// Creates the block of a handle.
    package init(of handle: AttributeHandle) {
        // The numbers 12 to 15 belong to the handles of the claims, which are in no block.
        number =
            switch handle.rawValue {
            case ..<0x0400: UInt8(min(handle.rawValue >> 4, 62))
            case ..<0x1000: 12
            case ..<0x4000: 13
            case ..<0x8000: 14
            default: 15
            }
    }

    /// Returns the blocks that a range of handles touches.
    package static func touched(by range: ClosedRange<AttributeHandle>) -> Set<HandleBlock> {
        var blocks: Set<HandleBlock> = [HandleBlock(of: range.upperBound)]
        // Handles that are 16 apart are in the same block or in neighboring blocks.
        for handle in stride(from: range.lowerBound.rawValue, through: range.upperBound.rawValue, by: 16) {
            blocks.insert(HandleBlock(of: AttributeHandle(rawValue: handle)))
        }
        return blocks
    }

    /// Returns the blocks that ranges of handles touch.
    ///
    /// The result does not include ranges that overlap the claims, because no claim can protect them.
    package static func touched(by ranges: [ClosedRange<AttributeHandle>]) -> Set<HandleBlock> {
        Set(ranges.filter { !$0.overlaps(claims) }.flatMap(touched))
    }

    /// The handles of the block.
    package var handles: ClosedRange<AttributeHandle> {
        switch number {
        case 62: 0x03E0...0x03FF
        case 12: 0x0400...0x0FFF
        case 13: 0x1000...0x3FFF
        case 14: 0x4000...0x7FFF
        case 15: 0x8000...0xFFFF
        default:
            AttributeHandle(
                rawValue: UInt16(number) << 4
            )...AttributeHandle(rawValue: UInt16(number) << 4 | 0xF)
        }
    }

    /// The handles of the block, as text for people.
    package var description: String {
        "\(handles.lowerBound) to \(handles.upperBound)"
    }

    package static func < (left: HandleBlock, right: HandleBlock) -> Bool { left.number < right.number }
}
