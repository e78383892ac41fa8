public import PeripheralCore

/// A new value of a characteristic, to send to its subscribers.
public struct BackendUpdate: Hashable, Sendable, Identifiable {
    /// Identifies an update within a run.
    public struct ID: Hashable, Sendable {
        let number: UInt64

        /// Creates the identity of the update with this number.
        public init(_ number: UInt64) {
            self.number = number
        }
    }

    /// The recipients of an update.
    public enum Recipients: Hashable, Sendable {
        /// All subscribers of the characteristic, each by the kind of update that it has asked for.
        case subscribers

        /// One subscriber of the characteristic.
        case central(Central.ID)
    }

    /// Identifies the update within its run.
    public var id: ID

    /// The characteristic, by its value handle in ``BackendPublication/table``.
    public var characteristic: AttributeHandle

    /// The value; at most 512 bytes.
    public var value: [UInt8]

    /// The recipients.
    public var recipients: Recipients

    /// Whether the update ends when all recipients have confirmed it, not when it is sent.
    public var awaitsConfirmation: Bool

    /// The centrals that an update to all subscribers must reach.
    ///
    /// It is used if a central can be reached only together with the others. If one of these centrals cannot
    /// receive the update now, the update is sent to none and fails. Other subscribers do not matter. The set
    /// is empty for an update that is for all current subscribers.
    public var mustReach: Set<Central.ID> {
        get { demanded ?? [] }
        set { demanded = newValue.isEmpty ? nil : newValue }
    }

    /// `nil` for an empty set: updates are copied often and rarely have one.
    private var demanded: Set<Central.ID>?

    /// Whether the update has to reach no central in particular.
    package var isForAllSubscribers: Bool { demanded == nil }

    /// Creates an update.
    public init(
        id: ID,
        characteristic: AttributeHandle,
        value: [UInt8],
        recipients: Recipients = .subscribers,
        awaitsConfirmation: Bool = false,
        mustReach: Set<Central.ID> = []
    ) {
        self.id = id
        self.characteristic = characteristic
        self.value = value
        self.recipients = recipients
        self.awaitsConfirmation = awaitsConfirmation
        demanded = mustReach.isEmpty ? nil : mustReach
    }
}

/// The end of an ``BackendUpdate``.
public enum BackendUpdateOutcome: Sendable {
    /// The update has left the device, as far as the stack reports this.
    ///
    /// An update that awaits confirmation has been confirmed by its recipients.
    case delivered

    /// It is unknown how the update ended.
    ///
    /// Either the stack did not send it, or its sending could not be observed.
    /// The sender gets the same result as for ``delivered``. ``UpdateStatistics/givenUp`` counts these
    /// updates.
    case givenUp

    /// It was not sent, or not confirmed.
    case failed(PeripheralError)
}

/// The kind of update that a central receives.
public enum UpdateKind: Hashable, Sendable {
    /// An update that the central does not confirm.
    case notification

    /// An update that the central confirms.
    case indication

    /// The value of the client characteristic configuration that asks for it.
    ///
    /// See Core Specification, Vol 3, Part G, 3.3.3.3.
    package var configuration: UInt16 {
        switch self {
        case .notification: 0x0001
        case .indication: 0x0002
        }
    }
}
