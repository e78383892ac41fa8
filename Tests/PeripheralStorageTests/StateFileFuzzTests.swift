import Glibc
import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

/// Whatever a state file holds, it is a document or refused with an error of ours.
///
/// Most of the changed files get the right checksum: what changes a file may know how to compute it.
@Suite(.timeLimit(.minutes(30)))
struct StateFileFuzzTests {
    private static let identifier = "com.example.lamp"
    private static let inputCount = getenv("FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 4_000

    @Test(arguments: [31, 32] as [UInt64]) func changedFileIsADocumentOrRefused(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let originals = try Self.originals(using: &generator)
        var outcomes: [RestorationError.Code?: Int] = [:]
        for _ in 0..<Self.inputCount / 2 {
            var text = originals[Int.random(in: originals.indices, using: &generator)]
            if Int.random(in: 0..<4, using: &generator) > 0,
                let checked = StateFileFormat.checkedPart(of: text)
            {
                var changed = Array(checked)
                Self.change(&changed, using: &generator)
                text = StateFileFormat.seal(changed[...])
            } else {
                Self.change(&text, using: &generator)
            }
            outcomes[outcome(of: text, seed: seed), default: 0] += 1
        }
        // Otherwise nothing but the checksum was tested.
        #expect((outcomes[nil] ?? 0) > Self.inputCount / 40, "\(outcomes)")
        #expect((outcomes[.damaged] ?? 0) > Self.inputCount / 40, "\(outcomes)")
    }

    /// What is read is written and read again as the same.
    private func outcome(of text: [UInt8], seed: UInt64) -> RestorationError.Code? {
        _ = StateFileFormat.identifier(atStartOf: text)
        do throws(RestorationError) {
            let document = try StateFileFormat.document(in: text, of: Self.identifier)
            let again = try StateFileFormat.document(
                in: try StateFileFormat.text(of: document, identifier: Self.identifier),
                of: Self.identifier
            )
            if again != document { Issue.record("\(text), seed \(seed), becomes \(document), then \(again)") }
            return nil
        } catch {
            if !Self.expected.contains(error.code) { Issue.record("\(text), seed \(seed): \(error)") }
            return error.code
        }
    }

    private static let expected: [RestorationError.Code] = [.damaged, .foreign, .newerVersion, .tooLarge]

    private static func originals(using generator: inout SeededGenerator) throws -> [[UInt8]] {
        var documents = [RestorationDocument.sample, RestorationDocument()]
        for _ in 0..<30 { documents.append(.random(using: &generator)) }
        return try documents.map { try StateFileFormat.text(of: $0, identifier: identifier) }
    }

    private static func change(_ text: inout [UInt8], using generator: inout SeededGenerator) {
        let changeCount = Int.random(in: 1...2, using: &generator)
        for _ in 0..<changeCount where !text.isEmpty { changeOnce(&text, using: &generator) }
    }

    private static func changeOnce(_ text: inout [UInt8], using generator: inout SeededGenerator) {
        let telling = Array("[]=\n\\;# s1\r\0\u{FF}".utf8) + [0xC3, 0xFF]
        let position = Int.random(in: text.indices, using: &generator)
        let end = min(text.count, position + Int.random(in: 0...40, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: text[position] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 1: text[position] = telling[Int.random(in: telling.indices, using: &generator)]
        case 2: text.insert(telling[Int.random(in: telling.indices, using: &generator)], at: position)
        case 3: text.removeSubrange(position..<end)
        case 4:
            text.insert(
                contentsOf: text[position..<end],
                at: Int.random(in: 0...text.count, using: &generator)
            )
        case 5: text.insert(contentsOf: generator.bytes(count: end - position), at: position)
        case 6: text.removeSubrange((position + text.count) / 2..<text.count)
        default:
            let other = Int.random(in: text.indices, using: &generator)
            text.swapAt(position, other)
        }
    }
}
