/// An error that is thrown when a peripheral cannot be published or served.
///
/// Only the program receives this error. The error that a central receives is an `ATTError`. If a declaration
/// is invalid, a ``DeclarationError`` is thrown.
public struct PeripheralError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case stackUnavailable, adapterUnavailable, permissionDenied, rejected, connectionLost, stopped
            case notDeclared, invalidValue, timedOut, notSubscribed, notAddressable, disconnected,
                unconfirmed, insufficientSecurity, unknownCentral, restorationUnavailable
        }

        private let kind: Kind

        /// The Bluetooth stack is unreachable.
        ///
        /// Either the system has no bus, or no Bluetooth daemon is connected to the bus.
        public static let stackUnavailable = Code(kind: .stackUnavailable)
        /// The adapter does not exist, is powered off, or is blocked.
        public static let adapterUnavailable = Code(kind: .adapterUnavailable)
        /// The program is not allowed to use the Bluetooth stack.
        public static let permissionDenied = Code(kind: .permissionDenied)
        /// The stack refused to register the database or the advertisement.
        public static let rejected = Code(kind: .rejected)
        /// The connection to the stack was lost, or the stack has ended.
        public static let connectionLost = Code(kind: .connectionLost)
        /// The stack did not answer in time.
        public static let timedOut = Code(kind: .timedOut)
        /// The peripheral is no longer published.
        public static let stopped = Code(kind: .stopped)
        /// The characteristic is not part of the running peripheral, or does not have the required property.
        public static let notDeclared = Code(kind: .notDeclared)
        /// The value cannot be sent because its length is not allowed.
        public static let invalidValue = Code(kind: .invalidValue)

        /// The central has not subscribed to the characteristic.
        public static let notSubscribed = Code(kind: .notSubscribed)
        /// The stack can reach the central only together with all other subscribers.
        public static let notAddressable = Code(kind: .notAddressable)
        /// The central is not connected.
        public static let disconnected = Code(kind: .disconnected)
        /// The central did not confirm an indication within 30 seconds, or the stack lost the confirmation.
        public static let unconfirmed = Code(kind: .unconfirmed)

        /// The stack does not know the central.
        ///
        /// The central is not bonded and was not connected recently.
        public static let unknownCentral = Code(kind: .unknownCentral)

        /// The link of the central is less secure than the characteristic requires.
        ///
        /// Some stacks can send only to all subscribers together. On these stacks, the error is also thrown
        /// if the link of any subscriber is not secure enough.
        public static let insufficientSecurity = Code(kind: .insufficientSecurity)

        /// The peripheral has a restoration identifier but no store, or a store but no identifier.
        public static let restorationUnavailable = Code(kind: .restorationUnavailable)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code

    /// A description of the problem and of its remedy, in one or two sentences.
    public var message: String

    /// The underlying error; `nil` if there is no underlying error.
    public var cause: (any Error)?

    /// Creates an error.
    ///
    /// Backends use this initializer.
    public init(code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message of the error.
    public var description: String { message }
}

extension PeripheralError {
    static let stopped = PeripheralError(code: .stopped, message: "The peripheral is no longer published.")

    static let offTheAir = PeripheralError(
        code: .connectionLost,
        message:
            "The peripheral is off the air. Its states report the reason, and when it is back on the air."
    )

    static let notSubscribed = PeripheralError(
        code: .notSubscribed,
        message: "The central is not subscribed to the characteristic."
    )

    static let notAddressable = PeripheralError(
        code: .notAddressable,
        message: "The Bluetooth stack can reach the central only together with all other subscribers. "
            + "Send to all of them instead."
    )

    static let noRestorationStore = PeripheralError(
        code: .restorationUnavailable,
        message: "The peripheral has a restoration identifier but no store for its state. "
            + "Pass a store to run(on:restoringFrom:)."
    )

    static let noRestorationIdentifier = PeripheralError(
        code: .restorationUnavailable,
        message: "The peripheral has a store for its state but no restoration identifier. "
            + "Declare one with Peripheral(_:restorationIdentifier:)."
    )

    static let disconnected = PeripheralError(code: .disconnected, message: "The central is not connected.")

    static let unconfirmed = PeripheralError(
        code: .unconfirmed,
        message: "The central did not confirm the indication within 30 seconds."
    )
}
