/// A measured quantity, with the formats in which BTHome sends it.
struct BTHomeQuantity: Hashable, Sendable {
    /// A format: an integer in little-endian order.
    struct Format: Hashable, Sendable {
        /// The number of the object.
        let id: UInt8
        let byteCount: Int
        let isSigned: Bool
        /// The integer that denotes one unit of the quantity.
        let scale: Double

        static func unsigned(_ id: UInt8, bytes: Int, scale: Double = 1) -> Format {
            Format(id: id, byteCount: bytes, isSigned: false, scale: scale)
        }

        static func signed(_ id: UInt8, bytes: Int, scale: Double = 1) -> Format {
            Format(id: id, byteCount: bytes, isSigned: true, scale: scale)
        }

        /// The possible integers.
        var integers: ClosedRange<Int64> {
            let bits = byteCount * 8
            return isSigned ? -(1 << (bits - 1))...(1 << (bits - 1)) - 1 : 0...(1 << bits) - 1
        }
    }

    let name: String
    /// The unit with a leading space, or an empty text.
    let unit: String
    /// The formats, in the order of preference.
    let formats: [Format]

    init(_ name: String, _ unit: String = "", _ formats: Format...) {
        self.name = name
        self.unit = unit.isEmpty ? "" : " \(unit)"
        self.formats = formats
    }

    /// Returns the number of the first format that can hold the value, followed by the value.
    func encode(_ value: Double, as id: UInt8?) throws(BTHomeError) -> [UInt8] {
        let candidates = formats.filter { id == nil || $0.id == id }
        for format in candidates {
            guard let integer = Int64(exactly: (value * format.scale).rounded()),
                format.integers.contains(integer)
            else { continue }
            let bytes = (0..<format.byteCount).map { UInt8(truncatingIfNeeded: integer >> ($0 * 8)) }
            return [format.id] + bytes
        }
        let least = candidates.map { Double($0.integers.lowerBound) / $0.scale }.min()
        let greatest = candidates.map { Double($0.integers.upperBound) / $0.scale }.max()
        guard let least, let greatest else {
            let known = formats.map { "0x" + String($0.id, radix: 16, uppercase: true) }
            throw BTHomeError(
                message: "The object 0x\(String(id ?? 0, radix: 16, uppercase: true)) is not a \(name). "
                    + "Use \(known.joined(separator: ", "))."
            )
        }
        throw BTHomeError(
            message: "The \(name) \(value)\(unit) is not possible. Use \(least) to \(greatest)\(unit)."
        )
    }
}
