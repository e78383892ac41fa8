/// An error that occurs when a backend cannot publish or serve a peripheral.
///
/// A central never receives a ``PeripheralError``. The error that a central receives is an `ATTError`. If a
/// declaration is invalid, the framework throws a ``DeclarationError``.
public struct PeripheralError: Error, Sendable, CustomStringConvertible {
    /// A code that identifies the reason for a ``PeripheralError``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case stackUnavailable, adapterUnavailable, permissionDenied, rejected, connectionLost, stopped
            case notDeclared, invalidValue, timedOut, notSubscribed, notAddressable, disconnected,
                serviceRemoved,
                unconfirmed, insufficientSecurity, unknownCentral, restorationUnavailable, signalsUnavailable
            case notSupported
        }

        private let kind: Kind

        /// The program cannot reach the Bluetooth stack.
        ///
        /// Either the system has no message bus, or no Bluetooth daemon is connected to the bus.
        public static let stackUnavailable = Code(kind: .stackUnavailable)
        /// The Bluetooth adapter does not exist, is powered off, or is blocked.
        public static let adapterUnavailable = Code(kind: .adapterUnavailable)
        /// The system does not allow the program to use the Bluetooth stack.
        public static let permissionDenied = Code(kind: .permissionDenied)
        /// The Bluetooth stack refused to register the GATT database or the advertisement.
        public static let rejected = Code(kind: .rejected)
        /// The program lost the connection to the Bluetooth stack, or the Bluetooth stack has stopped.
        public static let connectionLost = Code(kind: .connectionLost)
        /// The Bluetooth stack did not answer in time.
        public static let timedOut = Code(kind: .timedOut)
        /// The peripheral is no longer published.
        public static let stopped = Code(kind: .stopped)
        /// The peripheral does not declare the characteristic, or the characteristic lacks the required
        /// property.
        public static let notDeclared = Code(kind: .notDeclared)
        /// The length of the value is not allowed.
        ///
        /// The framework does not send a value with an invalid length.
        public static let invalidValue = Code(kind: .invalidValue)

        /// The central has not subscribed to the characteristic.
        public static let notSubscribed = Code(kind: .notSubscribed)
        /// The program has removed the service of the characteristic.
        ///
        /// See ``PeripheralSession/remove(_:)``.
        public static let serviceRemoved = Code(kind: .serviceRemoved)
        /// The Bluetooth stack cannot send a value to this central alone.
        ///
        /// The Bluetooth stack can send the value only to all subscribers together.
        public static let notAddressable = Code(kind: .notAddressable)
        /// The central is not connected.
        public static let disconnected = Code(kind: .disconnected)
        /// The central did not confirm an indication within 30 seconds.
        ///
        /// The code `unconfirmed` also applies if the Bluetooth stack lost the confirmation.
        public static let unconfirmed = Code(kind: .unconfirmed)

        /// The Bluetooth stack does not know the central.
        ///
        /// The central is not bonded, and has not been connected recently.
        public static let unknownCentral = Code(kind: .unknownCentral)

        /// The link of the central has less security than the characteristic requires.
        ///
        /// Some Bluetooth stacks can send an update only to all subscribers together. For an update to all
        /// subscribers together, the error occurs if the link of any subscriber is not secure enough.
        public static let insufficientSecurity = Code(kind: .insufficientSecurity)

        /// Either the restoration identifier or the store of the peripheral is missing.
        ///
        /// The code does not apply if both the identifier and the store are missing.
        public static let restorationUnavailable = Code(kind: .restorationUnavailable)

        /// The program cannot receive a signal that must stop the peripheral.
        ///
        /// Either the system does not allow programs to handle the signal, such as `SIGKILL`, or no file
        /// descriptor is available.
        public static let signalsUnavailable = Code(kind: .signalsUnavailable)

        /// The backend, the adapter or the connection does not support the operation.
        public static let notSupported = Code(kind: .notSupported)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The code that identifies the reason for the error.
    public var code: Code

    /// A description of the problem and its remedy, in one or two sentences.
    public var message: String

    /// The underlying error, or `nil` if no underlying error exists.
    public var cause: (any Error)?

    /// Creates an error.
    ///
    /// Backends create errors with this initializer.
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
        message: "The peripheral is currently not published. Peripheral.states reports the reason. "
            + "Peripheral.states also reports when the peripheral is published again."
    )

    static let serviceRemoved = PeripheralError(
        code: .serviceRemoved,
        message: "The program has removed the service of the characteristic."
    )

    static let notSubscribed = PeripheralError(
        code: .notSubscribed,
        message: "The central is not subscribed to the characteristic."
    )

    static let notAddressable = PeripheralError(
        code: .notAddressable,
        message: "The Bluetooth stack cannot send the update to one of several subscribers. "
            + "Send the update to all subscribers instead. "
            + "BlueZ can send notifications to one of them from version 5.76, and indications from 5.80."
    )

    static let noRestorationStore = PeripheralError(
        code: .restorationUnavailable,
        message: "The peripheral has a restoration identifier but no store for its state. "
            + "Pass a store to run(on:restoringFrom:)."
    )

    static let noRestorationIdentifier = PeripheralError(
        code: .restorationUnavailable,
        message: "The state of the peripheral cannot be preserved, because it has no restoration identifier. "
            + "Declare an identifier with Peripheral(_:restorationIdentifier:)."
    )

    static let fixedServices = PeripheralError(
        code: .rejected,
        message: "This backend cannot add or remove services during a run."
    )

    static let notSupported = PeripheralError(
        code: .notSupported,
        message: "This backend does not support the operation."
    )

    static let disconnected = PeripheralError(code: .disconnected, message: "The central is not connected.")

    static let unconfirmed = PeripheralError(
        code: .unconfirmed,
        message: "The central did not confirm the indication within 30 seconds."
    )
}
