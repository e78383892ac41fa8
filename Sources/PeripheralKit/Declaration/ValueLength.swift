/// The number of bytes that the value of a characteristic can have.
///
/// ```swift
/// Characteristic<[UInt8]>("5c3a0006-7e3c-4b6e-9d29-b3f1c0a1d001", .write, length: .within(2...20)) {
///     Write { command in try await lamp.execute(command) }
/// }
/// ```
///
/// If a write has an invalid length, the peripheral refuses the write with
/// `ATTError.invalidAttributeValueLength`, and does not call the ``Write`` handler. If the program provides a
/// value with an invalid length, no central receives that value.
public struct ValueLength: Hashable, Sendable {
    let minimum: Int
    let maximum: Int

    /// Any length from 0 to 512 bytes.
    ///
    /// The maximum length of an attribute value is 512 bytes.
    public static let any = ValueLength(minimum: 0, maximum: maximumValueLength)

    /// Exactly the given number of bytes, from 0 to 512.
    public static func exactly(_ count: Int) -> ValueLength {
        ValueLength(minimum: count, maximum: count)
    }

    /// At most the given number of bytes, from 0 to 512.
    public static func upTo(_ count: Int) -> ValueLength {
        ValueLength(minimum: 0, maximum: count)
    }

    /// A length in the given range.
    ///
    /// The lowest possible length is 0 bytes, and the highest possible length is 512 bytes.
    public static func within(_ counts: ClosedRange<Int>) -> ValueLength {
        ValueLength(minimum: counts.lowerBound, maximum: counts.upperBound)
    }

    /// Whether an attribute can have these lengths.
    var isPossible: Bool {
        0 <= minimum && minimum <= maximum && maximum <= maximumValueLength
    }

    func allows(_ count: Int) -> Bool {
        minimum <= count && count <= maximum
    }
}

extension ValueLength: CustomStringConvertible {
    /// The length as text, such as `exactly 2 bytes`.
    public var description: String {
        let unit = maximum == 1 ? "byte" : "bytes"
        if minimum == maximum { return "exactly \(minimum) \(unit)" }
        return minimum == 0 ? "at most \(maximum) \(unit)" : "\(minimum) to \(maximum) \(unit)"
    }
}

/// The maximum number of bytes in an attribute's value (Core Specification, Vol 3, Part F, 3.2.9).
let maximumValueLength = 512
