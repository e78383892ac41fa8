/// Why a ``TestCentral`` could not do what it was asked for, where the peripheral did not refuse it.
///
/// What the peripheral refuses is an `ATTError`.
public struct TestCentralError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case notFound, notConnected, alreadyConnected, disconnected, pairingFailed, timedOut
            case invalidArgument, failed
        }

        private let kind: Kind

        /// No such peripheral is on the air, or no such attribute in its database.
        public static let notFound = Code(kind: .notFound)
        /// The operation needs a connection.
        public static let notConnected = Code(kind: .notConnected)
        /// The central has a connection, and can have one only.
        public static let alreadyConnected = Code(kind: .alreadyConnected)
        /// The connection ended before the operation was complete.
        public static let disconnected = Code(kind: .disconnected)
        /// The two sides did not pair, for what one of them is, can or wants.
        public static let pairingFailed = Code(kind: .pairingFailed)
        /// Nothing came in the time that the central allows.
        public static let timedOut = Code(kind: .timedOut)
        /// The value does not fit into a packet.
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// The program that is the central failed.
        public static let failed = Code(kind: .failed)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code

    /// What happened.
    public var message: String

    /// Makes an error, for implementations of ``TestCentral``.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
