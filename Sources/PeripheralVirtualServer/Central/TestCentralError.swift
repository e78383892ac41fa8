/// The error of an operation that a `TestCentral` cannot complete.
///
/// If the peripheral refuses an operation, the operation throws an `ATTError`.
public struct TestCentralError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case notFound, notConnected, alreadyConnected, disconnected, notSubscribed, pairingFailed
            case timedOut, invalidArgument, failed
        }

        private let kind: Kind

        /// The peripheral is not on the air, or its database lacks the attribute.
        public static let notFound = Code(kind: .notFound)
        /// The operation requires a connection.
        public static let notConnected = Code(kind: .notConnected)
        /// The central is already connected, and cannot open a second connection.
        public static let alreadyConnected = Code(kind: .alreadyConnected)
        /// The connection ended before the operation was complete.
        public static let disconnected = Code(kind: .disconnected)
        /// The central waits for an update without a subscription.
        public static let notSubscribed = Code(kind: .notSubscribed)
        /// The central and the peripheral cannot pair, or one side has refused to pair.
        public static let pairingFailed = Code(kind: .pairingFailed)
        /// No update arrived within the time limit of the central.
        public static let timedOut = Code(kind: .timedOut)
        /// The value does not fit into one packet.
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// The program that implements the central failed.
        public static let failed = Code(kind: .failed)

        /// The name of the error code.
        public var description: String { kind.rawValue }
    }

    /// The kind of the failure.
    public var code: Code

    /// A description of the failure.
    public var message: String

    /// Creates an error.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
