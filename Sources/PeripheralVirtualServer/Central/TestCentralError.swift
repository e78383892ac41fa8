/// The failure of an operation of a `TestCentral`, except a refusal by the peripheral.
///
/// If the peripheral refuses an operation, the operation throws an `ATTError` instead.
public struct TestCentralError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case notFound, notConnected, alreadyConnected, disconnected, pairingFailed, timedOut
            case invalidArgument, failed
        }

        private let kind: Kind

        /// The peripheral is not on the air, or its database has no such attribute.
        public static let notFound = Code(kind: .notFound)
        /// The operation needs a connection.
        public static let notConnected = Code(kind: .notConnected)
        /// The central is already connected, and it can have only one connection.
        public static let alreadyConnected = Code(kind: .alreadyConnected)
        /// The connection ended before the operation was complete.
        public static let disconnected = Code(kind: .disconnected)
        /// The two sides could not pair, or one of them refused.
        public static let pairingFailed = Code(kind: .pairingFailed)
        /// No update arrived within the time limit of the central.
        public static let timedOut = Code(kind: .timedOut)
        /// The value does not fit into a packet.
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// The program that implements the central failed.
        public static let failed = Code(kind: .failed)

        /// The name of the code.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code

    /// A description of the failure.
    public var message: String

    /// Creates an error, for implementations of `TestCentral`.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
