/// An error that prevents the decoding of a value from bytes.
public struct GATTDecodingError: Error, Hashable, Sendable {
    /// The kind of the decoding error.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case tooShort, trailingBytes, invalidValue
        }

        private let kind: Kind

        /// The value needs more bytes than are available.
        public static let tooShort = Code(kind: .tooShort)
        /// Unread bytes remain after the decoded value.
        public static let trailingBytes = Code(kind: .trailingBytes)
        /// The number of bytes is correct, but the bytes do not represent a valid value.
        public static let invalidValue = Code(kind: .invalidValue)
    }

    /// The kind of the decoding error.
    public var code: Code
    /// The details of the error as human-readable text.
    public var message: String

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Returns an error for bytes that do not represent a valid value.
    ///
    /// The message should contain the invalid value and the allowed values.
    public static func invalidValue(_ message: String) -> GATTDecodingError {
        GATTDecodingError(code: .invalidValue, message: message)
    }

    static func tooShort(needed: Int, remaining: Int) -> GATTDecodingError {
        GATTDecodingError(
            code: .tooShort,
            message: "the value needs \(needed) bytes, but \(remaining) remain"
        )
    }

    static func trailingBytes(count: Int) -> GATTDecodingError {
        GATTDecodingError(code: .trailingBytes, message: "\(count) unread bytes follow the value")
    }

    /// The ATT error for the central that wrote the invalid bytes.
    ///
    /// If there are too few or too many bytes, the ATT error is ``ATTError/invalidAttributeValueLength``. For
    /// any other decoding error, the ATT error is ``ATTError/valueNotAllowed``.
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
