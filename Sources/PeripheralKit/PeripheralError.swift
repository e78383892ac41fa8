/// Why a peripheral cannot be published, or is no longer served: what the program sees.
///
/// What a central sees is an `ATTError`; an invalid declaration is a ``DeclarationError``.
public struct PeripheralError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case stackUnavailable, adapterUnavailable, permissionDenied, rejected, connectionLost, stopped
            case notDeclared, invalidValue, timedOut, notSubscribed, notAddressable, disconnected,
                unconfirmed, insufficientSecurity, unknownCentral, restorationUnavailable
        }

        private let kind: Kind

        /// The Bluetooth stack cannot be reached: no bus, or no Bluetooth daemon on it.
        public static let stackUnavailable = Code(kind: .stackUnavailable)
        /// There is no such adapter, or it is powered off or blocked.
        public static let adapterUnavailable = Code(kind: .adapterUnavailable)
        /// This program may not use the Bluetooth stack.
        public static let permissionDenied = Code(kind: .permissionDenied)
        /// The stack refused to register the database or the advertisement.
        public static let rejected = Code(kind: .rejected)
        /// The connection to the stack, or the stack itself, is gone.
        public static let connectionLost = Code(kind: .connectionLost)
        /// The stack did not answer in time.
        public static let timedOut = Code(kind: .timedOut)
        /// The peripheral is no longer published.
        public static let stopped = Code(kind: .stopped)
        /// The characteristic is not part of the running peripheral, or lacks the property.
        public static let notDeclared = Code(kind: .notDeclared)
        /// The value cannot be sent: it is longer than an attribute can be.
        public static let invalidValue = Code(kind: .invalidValue)

        /// The central has not subscribed to the characteristic.
        public static let notSubscribed = Code(kind: .notSubscribed)
        /// The stack can reach the central only together with all other subscribers.
        public static let notAddressable = Code(kind: .notAddressable)
        /// The central is not, or no longer, connected.
        public static let disconnected = Code(kind: .disconnected)
        /// The central has not confirmed an indication within 30 seconds, or the stack has lost its confirmation.
        public static let unconfirmed = Code(kind: .unconfirmed)

        /// The stack knows no such central: it is not bonded, and has not been here of late.
        public static let unknownCentral = Code(kind: .unknownCentral)

        /// The link of the central is not as secure as the characteristic demands, or nobody can be reached without one
        /// whose link is not.
        public static let insufficientSecurity = Code(kind: .insufficientSecurity)

        /// The peripheral has a restoration identifier and no store for its state, or a store and no identifier.
        public static let restorationUnavailable = Code(kind: .restorationUnavailable)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code

    /// One sentence or two: what happened, and what to do about it.
    public var message: String

    /// What brought the error about, if another error did.
    public var cause: (any Error)?

    /// Makes an error, for backends.
    public init(code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}

extension PeripheralError {
    static let stopped = PeripheralError(code: .stopped, message: "The peripheral is no longer published.")

    static let offTheAir = PeripheralError(
        code: .connectionLost,
        message:
            "The peripheral is off the air for now; the states of the peripheral tell why, and when it is back."
    )

    static let notSubscribed = PeripheralError(
        code: .notSubscribed,
        message: "The central has not subscribed to the characteristic, or not any more."
    )

    static let notAddressable = PeripheralError(
        code: .notAddressable,
        message: "The Bluetooth stack can reach the central only together with all other subscribers; "
            + "send to all of them instead."
    )

    static let noRestorationStore = PeripheralError(
        code: .restorationUnavailable,
        message: "The peripheral has a restoration identifier, and nowhere to preserve its state: "
            + "name a store by run(on:restoringFrom:)."
    )

    static let noRestorationIdentifier = PeripheralError(
        code: .restorationUnavailable,
        message: "There is a store for the state of the peripheral, but no restoration identifier: "
            + "declare one by Peripheral(_:restorationIdentifier:)."
    )

    static let disconnected = PeripheralError(code: .disconnected, message: "The central is not connected.")

    static let unconfirmed = PeripheralError(
        code: .unconfirmed,
        message: "The central has not confirmed the indication within 30 s."
    )
}
