import PeripheralCore
import TestSupport
import Testing

struct InOrderTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func asTheStandardLibraryDoes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let numbers = (0..<Int.random(in: 0...20, using: &random)).map { _ in
            Int.random(in: 0...9, using: &random)
        }
        #expect(numbers.inOrder() == numbers.sorted())
        // Those that are equal keep their order.
        let pairs = numbers.enumerated().inOrder { $0.element < $1.element }
        #expect(pairs.map(\.offset) == numbers.enumerated().sorted { $0.element < $1.element }.map(\.offset))
    }
}
