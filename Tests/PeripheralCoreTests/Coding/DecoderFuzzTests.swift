import PeripheralCore
import TestSupport
import Testing

/// Every decoder takes any bytes: it refuses them, or what it makes of them is written as the same bytes
/// again.
@Suite(.timeLimit(.minutes(1)))
struct DecoderFuzzTests {
    private static let seeds: [UInt64] = [11, 12]
    private static let inputCount = fuzzInputCount

    private func fuzz<Value: GATTValue>(_ type: Value.Type, upTo maximumCount: Int, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<Self.inputCount {
            let input = generator.plausibleBytes(count: Int.random(in: 0...maximumCount, using: &generator))
            guard let value = try? Value(gattBytes: input) else {
                continue
            }
            taken += 1
            if value.gattBytes != input {
                Issue.record("\(Value.self) of \(input), seed \(seed), becomes \(value.gattBytes)")
            }
        }
        #expect(taken > 0, "no input was a \(Value.self)")
    }

    @Test(arguments: seeds) func unsignedIntegers(seed: UInt64) {
        fuzz(UInt8.self, upTo: 3, seed: seed)
        fuzz(UInt16.self, upTo: 4, seed: seed)
        fuzz(UInt24.self, upTo: 5, seed: seed)
        fuzz(UInt32.self, upTo: 6, seed: seed)
        fuzz(UInt64.self, upTo: 10, seed: seed)
    }

    @Test(arguments: seeds) func signedIntegers(seed: UInt64) {
        fuzz(Int8.self, upTo: 3, seed: seed)
        fuzz(Int16.self, upTo: 4, seed: seed)
        fuzz(Int24.self, upTo: 5, seed: seed)
        fuzz(Int32.self, upTo: 6, seed: seed)
        fuzz(Int64.self, upTo: 10, seed: seed)
    }

    @Test(arguments: seeds) func otherNumbers(seed: UInt64) {
        fuzz(Bool.self, upTo: 2, seed: seed)
        fuzz(Float.self, upTo: 6, seed: seed)
        fuzz(Double.self, upTo: 10, seed: seed)
        fuzz(MedicalShortFloat.self, upTo: 4, seed: seed)
        fuzz(MedicalFloat.self, upTo: 6, seed: seed)
    }

    @Test(arguments: seeds) func dates(seed: UInt64) {
        fuzz(DateTime.self, upTo: 9, seed: seed)
    }

    @Test(arguments: seeds) func sequences(seed: UInt64) {
        fuzz(String.self, upTo: 24, seed: seed)
        fuzz([UInt8].self, upTo: 24, seed: seed)
    }

    /// Reads of any kind, in any order, on any bytes.
    @Test(arguments: seeds) func reads(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Self.inputCount {
            let input = generator.bytes(count: Int.random(in: 0...20, using: &generator))
            var reader = ByteReader(input)
            var writer = ByteWriter()
            for _ in 0..<4 {
                switch generator.next() % 5 {
                case 0: (try? reader.read(UInt8.self)).map { writer.write($0) }
                case 1: (try? reader.read(Int64.self)).map { writer.write($0) }
                case 2: (try? reader.readInt24()).map { writer.write($0) }
                case 3: (try? reader.readUInt24()).map { writer.write($0) }
                default:
                    let count = Int.random(in: -2...30, using: &generator)
                    (try? reader.readBytes(count)).map { writer.write($0) }
                }
            }
            writer.write(reader.readRemaining())
            if writer.bytes != input {
                Issue.record("\(input), seed \(seed), becomes \(writer.bytes)")
            }
        }
    }
}
