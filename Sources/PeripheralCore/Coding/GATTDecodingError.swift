/// Bytes are not the value that they should be.
public struct GATTDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the bytes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case tooShort, trailingBytes, invalidValue
        }

        private let kind: Kind

        /// There are fewer bytes than the value has.
        public static let tooShort = Code(kind: .tooShort)
        /// There are more bytes than the value has.
        public static let trailingBytes = Code(kind: .trailingBytes)
        /// The number of bytes is right, but they mean nothing.
        public static let invalidValue = Code(kind: .invalidValue)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// What is wrong with the bytes.
    public var code: Code

    /// The same in words.
    public var message: String

    /// Makes an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// What a central is told: ``ATTError/invalidAttributeValueLength`` where the number of bytes is wrong,
    /// otherwise ``ATTError/valueNotAllowed``.
    public var attError: ATTError {
        code == .invalidValue ? .valueNotAllowed : .invalidAttributeValueLength
    }

    /// The message.
    public var description: String { message }
}
