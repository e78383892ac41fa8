internal import PeripheralCore

/// The words of a preserved value, in order.
struct PreservedWords {
    private var words: ArraySlice<Substring>
    /// The text's name in error messages.
    private let subject: String

    init(_ text: String, of subject: String) {
        // Comparing bytes is faster than comparing characters.
        words = text.utf8.split(separator: UInt8(ascii: " ")).map(Substring.init)[...]
        self.subject = subject
    }

    var isEmpty: Bool { words.isEmpty }

    /// Converts the next word to a value.
    mutating func next<Value>(
        _ name: String,
        _ make: (Substring) -> Value?
    ) throws(RestorationError) -> Value {
        guard let word = words.popFirst(), let value = make(word) else {
            throw .damaged("\(subject) has no \(name)")
        }
        return value
    }

    /// Converts the next word to a value, or returns `nil` if it is a hyphen.
    mutating func nextIfAny<Value>(
        _ name: String,
        _ make: (Substring) -> Value?
    ) throws(RestorationError) -> Value? {
        if words.first == "-" {
            words.removeFirst()
            return nil
        }
        return try next(name, make)
    }
}

extension RestorationError {
    /// Creates the error for a state with a form that a save cannot have created.
    static func damaged(_ reason: String) -> RestorationError {
        RestorationError(code: .damaged, message: "The preserved state is damaged: \(reason).")
    }
}

// MARK: - Numbers and bytes

/// Bytes as two lower-case hexadecimal digits each.
///
/// A period represents an empty list of bytes, so that the text is never empty.
enum PreservedBytes {
    static func text(of bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "." }
        return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (position, byte) in bytes.enumerated() {
                text[position * 2] = digit(byte >> 4)
                text[position * 2 + 1] = digit(byte & 0x0F)
            }
            return bytes.count * 2
        }
    }

    /// - Returns: `nil` when the text does not consist of bytes, or has more bytes than an attribute can
    ///   hold.
    static func bytes(of text: Substring) -> [UInt8]? {
        guard text != "." else { return [] }
        let digits = text.utf8
        guard digits.count.isMultiple(of: 2), digits.count / 2 <= maximumValueLength else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for character in digits {
            guard let value = digitValue(of: character) else { return nil }
            if let first = high.take() {
                bytes.append(first << 4 | value)
            } else {
                high = value
            }
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func digitValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension AttributeHandle {
    /// The handle as four hexadecimal digits.
    var preservedText: String {
        PreservedBytes.text(of: [UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)])
    }

    /// - Returns: `nil` unless the text is four lower-case hexadecimal digits other than 0000.
    init?(preserved text: Substring) {
        guard let bytes = PreservedBytes.bytes(of: text), bytes.count == 2 else { return nil }
        let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        guard number != 0 else { return nil }
        self.init(rawValue: number)
    }
}

extension Duration {
    /// The seconds, followed by a colon and the attoseconds unless these are zero.
    var preservedText: String {
        let (seconds, attoseconds) = components
        return attoseconds == 0 ? "\(seconds)" : "\(seconds):\(attoseconds)"
    }

    init?(preserved text: Substring) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = parts.first.flatMap({ Int64($0) }) else { return nil }
        var attoseconds: Int64 = 0
        if parts.count == 2 {
            guard let number = Int64(parts[1]), number != 0, number.magnitude < 1_000_000_000_000_000_000
            else { return nil }
            attoseconds = number
        }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}

extension String {
    /// The text with U+0000 and backslashes escaped, because stores do not accept U+0000.
    var preservedText: String {
        var text = ""
        text.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "\0": text += "\\0"
            case "\\": text += "\\\\"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// - Returns: `nil` when a backslash precedes a character that is neither a backslash nor a zero.
    init?(preserved text: String) {
        self = ""
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch (isEscaped, scalar) {
            case (true, "0"): unicodeScalars.append("\0")
            case (true, "\\"): unicodeScalars.append("\\")
            case (true, _): return nil
            case (false, "\\"): break
            case (false, _): unicodeScalars.append(scalar)
            }
            isEscaped = !isEscaped && scalar == "\\"
        }
        guard !isEscaped else { return nil }
    }
}
