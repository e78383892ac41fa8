import PeripheralKit
import TestSupport
import Testing

/// Decodes random bytes: what decodes has a form of its own, which decodes to the same.
func fuzz<Value: GATTValue & Equatable>(
    _ type: Value.Type,
    seed: UInt64,
    count: ClosedRange<Int>,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<2_000 {
        let length = Int.random(in: count, using: &generator)
        let bytes =
            round.isMultiple(of: 2)
            ? generator.bytes(count: length) : generator.plausibleBytes(count: length)
        guard let value = try? Value(gattBytes: bytes) else { continue }
        try #require(
            try Value(gattBytes: value.gattBytes) == value,
            "seed \(seed), \(bytes)",
            sourceLocation: sourceLocation
        )
    }
}
