public import PeripheralCore

/// A new value that the backend sends to the subscribers of a characteristic.
public struct BackendUpdate: Hashable, Sendable, Identifiable {
    /// The identity of an update, which is unique within a run.
    public struct ID: Hashable, Sendable {
        let number: UInt64

        /// Creates the identity of an update from a number.
        public init(_ number: UInt64) {
            self.number = number
        }
    }

    /// The recipients of an update.
    public enum Recipients: Hashable, Sendable {
        /// All subscribers of the characteristic.
        ///
        /// Each subscriber receives the kind of update that the subscriber requests.
        case subscribers

        /// One subscriber of the characteristic.
        case central(Central.ID)
    }

    /// The identity of the update.
    ///
    /// The identity is unique within one run of the peripheral.
    public var id: ID

    /// The value handle of the characteristic in ``BackendPublication/table``.
    public var characteristic: AttributeHandle

    /// The value of the update, at most 512 bytes.
    public var value: [UInt8]

    /// The recipients.
    public var recipients: Recipients

    /// Whether the update is complete only after all recipients have confirmed the update.
    ///
    /// If the value is `false`, the update is complete as soon as the stack has sent the update.
    public var awaitsConfirmation: Bool

    /// The subscribers that must receive the update.
    ///
    /// If the set is empty, the update is for all current subscribers.
    ///
    /// Some stacks can send an update only to all subscribers together. If a stack cannot send an update to a
    /// single central, the host addresses the update to all subscribers, and names the required recipients.
    /// If a required recipient cannot receive the update now, the update fails, and no central receives it.
    /// The outcome of the update depends only on the required recipients.
    public var requiredRecipients: Set<Central.ID> {
        get { demanded ?? [] }
        set { demanded = newValue.isEmpty ? nil : newValue }
    }

    /// The number of the newest subscription that the host knew when it submitted the update.
    ///
    /// The update is only for subscriptions with a ``BackendSubscription/number`` up to `lastSubscription`. A
    /// central can subscribe again while the host submits an update on another thread. Without
    /// `lastSubscription`, the new subscription would receive an update for the earlier subscription.
    ///
    /// Some backends can send an update only to all subscribers together. Such a backend sends the update if
    /// at least one subscription has a number up to `lastSubscription`. If all subscriptions have higher
    /// numbers, the backend does not send the update. The backend reports the unsent update as failed, with
    /// the error code ``PeripheralError/Code/notSubscribed``.
    ///
    /// By default, the update is for all subscriptions.
    public var lastSubscription: UInt64

    /// `nil` represents an empty set, because updates are copied often and rarely contain a set.
    private var demanded: Set<Central.ID>?

    /// Whether the update is for all current subscribers, without a set of required centrals.
    package var isForAllSubscribers: Bool { demanded == nil }

    /// Creates an update.
    public init(
        id: ID,
        characteristic: AttributeHandle,
        value: [UInt8],
        recipients: Recipients = .subscribers,
        awaitsConfirmation: Bool = false,
        requiredRecipients: Set<Central.ID> = [],
        lastSubscription: UInt64 = .max
    ) {
        self.id = id
        self.characteristic = characteristic
        self.value = value
        self.recipients = recipients
        self.awaitsConfirmation = awaitsConfirmation
        demanded = requiredRecipients.isEmpty ? nil : requiredRecipients
        self.lastSubscription = lastSubscription
    }
}

/// The outcome of a ``BackendUpdate``.
public enum BackendUpdateOutcome: Sendable {
    /// The update has left the device, according to the stack.
    ///
    /// Some stacks do not report completed updates.
    ///
    /// If ``BackendUpdate/awaitsConfirmation`` is `true`, this outcome means that all recipients have
    /// confirmed the update.
    case completed

    /// The outcome of the update is unknown.
    ///
    /// Either the stack did not send the update, or the backend did not detect that the update left the
    /// device. For the outcomes ``givenUp`` and ``completed``, the function that sends the update throws no
    /// error. ``UpdateCounters/givenUp`` counts the updates with this outcome.
    case givenUp

    /// The stack did not send the update, or a recipient did not confirm the update.
    case failed(PeripheralError)
}

/// The kind of update that a central receives.
public enum UpdateKind: Hashable, Sendable {
    /// An update that the central does not confirm.
    case notification

    /// An update that the central confirms.
    case indication

    /// The value of the client characteristic configuration that requests this kind of update.
    ///
    /// See Core Specification, Vol 3, Part G, 3.3.3.3.
    package var configuration: UInt16 {
        switch self {
        case .notification: 0x0001
        case .indication: 0x0002
        }
    }
}
