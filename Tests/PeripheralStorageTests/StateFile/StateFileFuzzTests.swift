import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

/// Whatever a state file holds, it is a document or refused with an error of ours.
@Suite(.timeLimit(.minutes(30)))
struct StateFileFuzzTests {
    private static let identifier = "com.example.lamp"
    private static let inputCount = 4_000

    @Test(arguments: [31, 32] as [UInt64]) func changedFileIsADocumentOrRefused(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let originals = try Self.originals(using: &generator)
        var outcomes: [RestorationError.Code?: Int] = [:]
        for _ in 0..<Self.inputCount / 2 {
            var text = originals[Int.random(in: originals.indices, using: &generator)]
            text.changeStateFile(using: &generator)
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
            let restorationState = try StateFileFormat.restorationState(in: text, of: Self.identifier)
            let again = try StateFileFormat.restorationState(
                in: try StateFileFormat.text(of: restorationState, identifier: Self.identifier),
                of: Self.identifier
            )
            if again != restorationState {
                Issue.record("\(text), seed \(seed), becomes \(restorationState), then \(again)")
            }
            return nil
        } catch {
            if !Self.expected.contains(error.code) { Issue.record("\(text), seed \(seed): \(error)") }
            return error.code
        }
    }

    private static let expected: [RestorationError.Code] = [.damaged, .foreign, .newerVersion, .tooLarge]

    private static func originals(using generator: inout SeededGenerator) throws -> [[UInt8]] {
        var documents = [RestorationState.sample, RestorationState()]
        for _ in 0..<30 { documents.append(.random(using: &generator)) }
        return try documents.map { try StateFileFormat.text(of: $0, identifier: identifier) }
    }
}
