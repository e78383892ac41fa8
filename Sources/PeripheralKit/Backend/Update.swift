public import PeripheralCore

/// A new value of a characteristic, on its way to centrals that have subscribed to it.
public struct Update: Hashable, Sendable, Identifiable {
    /// What tells an update from all others of the same run.
    public struct ID: Hashable, Sendable {
        let number: UInt64

        /// The number of an update in its run.
        public init(_ number: UInt64) {
            self.number = number
        }
    }

    /// Who gets an update.
    public enum Recipients: Hashable, Sendable {
        /// All centrals that have subscribed to the characteristic, each as it has asked for.
        case subscribers

        /// One central that has subscribed to the characteristic.
        case central(Central.ID)
    }

    /// What tells it from all others of the same run.
    public var id: ID

    /// The characteristic, by its value handle in ``Publication/table``.
    public var characteristic: AttributeHandle

    /// The value; at most 512 bytes.
    public var value: [UInt8]

    /// Who gets it.
    public var recipients: Recipients

    /// Whether the update ends when all recipients have confirmed it, instead of when it has been handed on.
    public var awaitsConfirmation: Bool

    /// For whose sake an update to all subscribers is sent, as where each is reached only together with the others.
    ///
    /// Unless all of these can be sent it now, nobody is, and it fails; what keeps it from others does not count. Empty for
    /// an update that is for whoever is there.
    public var mustReach: Set<Central.ID> {
        get { demanded ?? [] }
        set { demanded = newValue.isEmpty ? nil : newValue }
    }

    /// `nil` for an empty set: updates are copied often, and rarely have one.
    private var demanded: Set<Central.ID>?

    /// Whether nobody in particular is to be reached.
    package var isForWhoeverIsThere: Bool { demanded == nil }

    /// Makes an update.
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

/// How an ``Update`` ended.
public enum UpdateOutcome: Sendable {
    /// It has left this device, as far as the stack tells; for one that awaits confirmation, its recipients have
    /// confirmed it.
    case delivered

    /// Nothing more will be heard of it: the stack has not sent it, or where nobody could see it.
    ///
    /// Whoever has sent it is told the same as of one that is ``delivered``; ``UpdateStatistics/givenUp`` counts it.
    case givenUp

    /// It was not sent, or not confirmed.
    case failed(PeripheralError)
}

/// How a central gets updates of a value.
public enum UpdateKind: Hashable, Sendable {
    /// Without a confirmation by the central.
    case notification

    /// Each with a confirmation by the central.
    case indication

    /// What a central writes to the client characteristic configuration to ask for it (Core Specification,
    /// Vol 3, Part G, 3.3.3.3).
    package var configuration: UInt16 {
        switch self {
        case .notification: 0x0001
        case .indication: 0x0002
        }
    }
}
