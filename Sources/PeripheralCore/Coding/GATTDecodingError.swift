/// Why bytes are not the value that they should be.
public struct GATTDecodingError: Error, Hashable, Sendable {
    /// What is wrong.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case tooShort, trailingBytes, invalidValue
        }

        private let kind: Kind

        /// Bytes are missing.
        public static let tooShort = Code(kind: .tooShort)
        /// Bytes are left over behind the value.
        public static let trailingBytes = Code(kind: .trailingBytes)
        /// The length is right, but what the bytes say is not allowed.
        public static let invalidValue = Code(kind: .invalidValue)
    }

    /// What is wrong.
    public var code: Code
    /// The particulars, for people.
    public var message: String

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The error of bytes that say what is not allowed; the message tells what was found, and what is
    /// allowed.
    public static func invalidValue(_ message: String) -> GATTDecodingError {
        GATTDecodingError(code: .invalidValue, message: message)
    }

    static func tooShort(needed: Int, remaining: Int) -> GATTDecodingError {
        GATTDecodingError(code: .tooShort, message: "\(needed) bytes are needed, \(remaining) are left")
    }

    static func trailingBytes(count: Int) -> GATTDecodingError {
        GATTDecodingError(code: .trailingBytes, message: "\(count) bytes are left over behind the value")
    }

    /// What a central is told that wrote these bytes.
    ///
    /// ``ATTError/invalidAttributeValueLength`` when bytes are missing or left over, otherwise
    /// ``ATTError/valueNotAllowed``.
    public var attError: ATTError {
        code == .invalidValue ? .valueNotAllowed : .invalidAttributeValueLength
    }
}

extension GATTDecodingError: CustomStringConvertible {
    /// The message.
    public var description: String {
        message
    }
}
