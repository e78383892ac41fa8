package import PeripheralDBus
package import TestSupport

extension BusValue {
    /// A value of any type without a file descriptor, of bounded size and depth.
    package static func random(using generator: inout SeededGenerator, depth: Int = 3) -> BusValue {
        let kinds = depth > 0 ? 18 : 13
        switch Int.random(in: 0..<kinds, using: &generator) {
        case 0: return .byte(.random(in: .min ... .max, using: &generator))
        case 1: return .bool(.random(using: &generator))
        case 2: return .int16(.random(in: .min ... .max, using: &generator))
        case 3: return .uint16(.random(in: .min ... .max, using: &generator))
        case 4: return .int32(.random(in: .min ... .max, using: &generator))
        case 5: return .uint32(.random(in: .min ... .max, using: &generator))
        case 6: return .int64(.random(in: .min ... .max, using: &generator))
        case 7: return .uint64(.random(in: .min ... .max, using: &generator))
        case 8: return .double(.random(in: -1e9...1e9, using: &generator))
        case 9: return .string(randomText(using: &generator))
        case 10: return .objectPath(["/", "/a", "/a/b_1"].randomElement(using: &generator) ?? "/")
        case 11: return .signature(["", "ay", "a{sv}(ii)"].randomElement(using: &generator) ?? "")
        case 12: return .bytes((0..<Int.random(in: 0...64, using: &generator)).map { UInt8($0) })
        case 13: return .variant(random(using: &generator, depth: depth - 1))
        case 14:
            return .structure(
                (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                    random(using: &generator, depth: depth - 1)
                }
            )
        case 15:
            return .properties(
                (0..<Int.random(in: 0...3, using: &generator)).map {
                    ("key\($0)", random(using: &generator, depth: depth - 1))
                }
            )
        case 16: return .strings((0..<Int.random(in: 0...3, using: &generator)).map { "text \($0)" })
        default:
            // Elements of one type: the same value several times. An array of bytes has its own form.
            let element = random(using: &generator, depth: depth - 1)
            if case .byte = element { return .bytes([1]) }
            return .array(
                of: element.signature,
                Array(repeating: element, count: Int.random(in: 0...3, using: &generator))
            )
        }
    }

    private static func randomText(using generator: inout SeededGenerator) -> String {
        let letters: [Character] = ["a", "Z", "0", " ", "'", "\"", "<", "é", "漢", "🙂", "\u{7F}", "\n"]
        return String(
            (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
                letters.randomElement(using: &generator)
            }
        )
    }
}
