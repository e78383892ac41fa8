/// The pairing method, or a combination of pairing methods.
///
/// The method determines the input and output capabilities that the device reports to centrals.
///
/// With every method except ``none`` and ``system``, a backend passes all questions of the stack to the host,
/// including ``BackendPairingQuestion/authorize``. The host refuses the questions of undeclared methods.
public enum PairingMethod: Hashable, Sendable {
    /// No central can pair.
    case none
    /// Pairing with Just Works: the device has no display and no keys.
    case justWorks
    /// Pairing with a display: the device shows a passkey.
    case displayPasskey
    /// Pairing with a keyboard: a person enters a passkey on the device.
    case enterPasskey
    /// Pairing with a display and two keys: a person compares two numbers.
    ///
    /// The person presses one of the two keys if the numbers are equal. The other key rejects the pairing.
    case confirmNumber
    /// Pairing with a display and two keys: the device shows a passkey, or a person compares two numbers.
    ///
    /// The capabilities of the central determine which of the two happens.
    case displayPasskeyOrConfirmNumber
    /// Pairing with a display and a keyboard, by the method that suits the central.
    ///
    /// A person enters a passkey on the device, the device shows a passkey, or a person compares two numbers.
    case enterOrDisplayPasskeyOrConfirmNumber
    /// The operating system determines the pairing method.
    ///
    /// The backend does not handle pairing.
    case system
}

/// A request from a Bluetooth stack about a central that is pairing.
public struct BackendPairingRequest: Hashable, Sendable {
    /// The central that is pairing.
    public var central: Central

    /// The question that the Bluetooth stack asks the host.
    public var question: BackendPairingQuestion

    /// Creates a request.
    public init(central: Central, question: BackendPairingQuestion) {
        self.central = central
        self.question = question
    }
}

/// A question that a Bluetooth stack asks while a central is pairing.
public enum BackendPairingQuestion: Hashable, Sendable {
    /// Asks the program for permission to pair with the central.
    ///
    /// The pairing method is Just Works. With Just Works, no person compares numbers.
    case authorize
    /// Asks the program to show a passkey.
    ///
    /// The associated value is the passkey.
    case displayPasskey(UInt32)
    /// Asks for the passkey that the central displays.
    case enterPasskey
    /// Asks whether the central displays the same number as this device.
    ///
    /// The associated value is the number that this device displays.
    case confirmNumber(UInt32)
}

/// The answer to a ``BackendPairingQuestion``.
public enum BackendPairingAnswer: Hashable, Sendable {
    /// A positive answer to a question.
    ///
    /// The answer to ``BackendPairingQuestion/displayPasskey(_:)`` confirms that the program has shown the
    /// passkey.
    case accept
    /// The passkey that a person has entered, from 0 to 999,999.
    case passkey(UInt32)
    /// A negative answer, after which the pairing fails.
    case reject
}
