/// The reason why bytes are not a valid value.
public struct GATTDecodingError: Error, Hashable, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case tooShort, trailingBytes, invalidValue
        }

        private let kind: Kind

        /// Bytes are missing.
        public static let tooShort = Code(kind: .tooShort)
        /// Bytes remain after the value.
        public static let trailingBytes = Code(kind: .trailingBytes)
        /// The length is correct, but the content is not allowed.
        public static let invalidValue = Code(kind: .invalidValue)
    }

    /// The kind of failure.
    public var code: Code
    /// The details, for people to read.
    public var message: String

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Returns an error for content that is not allowed.
    ///
    /// The message states the content and the allowed values.
    public static func invalidValue(_ message: String) -> GATTDecodingError {
        GATTDecodingError(code: .invalidValue, message: message)
    }

    static func tooShort(needed: Int, remaining: Int) -> GATTDecodingError {
        GATTDecodingError(code: .tooShort, message: "\(needed) bytes are needed, \(remaining) available")
    }

    static func trailingBytes(count: Int) -> GATTDecodingError {
        GATTDecodingError(code: .trailingBytes, message: "\(count) bytes remain after the value")
    }

    /// The ATT error for a central that wrote these bytes.
    ///
    /// The error is ``ATTError/invalidAttributeValueLength`` if bytes are missing or remain. For any other
    /// failure, the error is ``ATTError/valueNotAllowed``.
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
