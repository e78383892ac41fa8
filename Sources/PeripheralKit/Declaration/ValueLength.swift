/// How many bytes a characteristic's value may have.
///
/// ```swift
/// Characteristic<[UInt8]>("5c3a0006-7e3c-4b6e-9d29-b3f1c0a1d001", .write, length: .within(2...20)) {
///     Write { command in try await lamp.execute(command) }
/// }
/// ```
///
/// A central that writes another length is refused by `ATTError.invalidAttributeValueLength`; the ``Write`` is not
/// asked. A value of another length that the program itself gives is its own mistake: it reaches no central.
public struct ValueLength: Hashable, Sendable {
    let minimum: Int
    let maximum: Int

    /// 0 to 512 bytes: all that an attribute can hold.
    public static let any = ValueLength(minimum: 0, maximum: maximumValueLength)

    /// This many bytes, 0 to 512.
    public static func exactly(_ count: Int) -> ValueLength {
        ValueLength(minimum: count, maximum: count)
    }

    /// This many bytes or fewer, 0 to 512.
    public static func upTo(_ count: Int) -> ValueLength {
        ValueLength(minimum: 0, maximum: count)
    }

    /// A number of bytes within the range, which lies in 0 to 512.
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
    /// The length in words: `exactly 2 bytes`.
    public var description: String {
        let unit = maximum == 1 ? "byte" : "bytes"
        if minimum == maximum { return "exactly \(minimum) \(unit)" }
        return minimum == 0 ? "at most \(maximum) \(unit)" : "\(minimum) to \(maximum) \(unit)"
    }
}

/// The most bytes that an attribute's value can have (Core Specification, Vol 3, Part F, 3.2.9).
let maximumValueLength = 512
