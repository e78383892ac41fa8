import PeripheralCore
import Testing

@testable import PeripheralBlueZModel

@Suite(.timeLimit(.minutes(1)))
struct HandleBlockTests {
    private static let usable = (0x0001...0xFFFF as ClosedRange<UInt16>).map(AttributeHandle.init(rawValue:))
        .filter { !HandleBlock.claims.contains($0) }

    @Test func everyBlockHasAClaimOfItsOwn() {
        var claims: [AttributeHandle: HandleBlock] = [:]
        for handle in Self.usable {
            let block = HandleBlock(of: handle)
            #expect(HandleBlock.claims.contains(block.claim))
            #expect(claims[block.claim, default: block] == block)
            claims[block.claim] = block
        }
        #expect(claims.count == 63)
    }

    @Test(arguments: [1, 2, 15, 16, 17, 61, 1000])
    func aRangeTouchesTheBlocksOfAllItsHandles(size: Int) async {
        for first in stride(from: 1, through: 0x1_0000 - size, by: 7) {
            let range =
                AttributeHandle(rawValue: UInt16(first))...AttributeHandle(rawValue: UInt16(first + size - 1))
            let expected = Set(
                (first..<first + size).map { HandleBlock(of: AttributeHandle(rawValue: UInt16($0))) }
            )
            #expect(HandleBlock.touched(by: range) == expected)
            // Other tests wait for one of the few threads.
            if first.isMultiple(of: 100) { await Task.yield() }
        }
    }

    /// Handles with the number of a block above 0x0400 are those of the claims, which are in no block.
    @Test func noBlockHasHandlesInTwoPlaces() {
        var last: [HandleBlock: AttributeHandle] = [:]
        for handle in Self.usable {
            let block = HandleBlock(of: handle)
            if let last = last[block] { #expect(last.rawValue == handle.rawValue - 1) }
            last[block] = handle
        }
    }
}
