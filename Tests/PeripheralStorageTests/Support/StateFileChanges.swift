import PeripheralStorage
import TestSupport

extension [UInt8] {
    /// Changes a state file at random.
    ///
    /// Most of those that are changed get the right checksum: what changes a file may know how to compute it.
    mutating func changeStateFile(using generator: inout SeededGenerator) {
        guard Int.random(in: 0..<4, using: &generator) > 0,
            let checked = StateFileFormat.checkedPart(of: self)
        else { return changeBytes(using: &generator) }
        var changed = Array(checked)
        changed.changeBytes(using: &generator)
        self = StateFileFormat.seal(changed[...])
    }

    private mutating func changeBytes(using generator: inout SeededGenerator) {
        let changeCount = Int.random(in: 1...2, using: &generator)
        for _ in 0..<changeCount where !isEmpty { changeOnce(using: &generator) }
    }

    private mutating func changeOnce(using generator: inout SeededGenerator) {
        let telling = Array("[]=\n\\;# s1\r\0\u{FF}".utf8) + [0xC3, 0xFF]
        let position = Int.random(in: indices, using: &generator)
        let end = Swift.min(count, position + Int.random(in: 0...40, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: self[position] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 1: self[position] = telling[Int.random(in: telling.indices, using: &generator)]
        case 2: insert(telling[Int.random(in: telling.indices, using: &generator)], at: position)
        case 3: removeSubrange(position..<end)
        case 4:
            insert(
                contentsOf: self[position..<end],
                at: Int.random(in: 0...count, using: &generator)
            )
        case 5: insert(contentsOf: generator.bytes(count: end - position), at: position)
        case 6: removeSubrange((position + count) / 2..<count)
        default:
            let other = Int.random(in: indices, using: &generator)
            swapAt(position, other)
        }
    }
}
