public import PeripheralCore

/// The side of a running ``Peripheral`` that a backend talks to.
///
/// Calls are quick and never block: what takes time is answered later, by ``Answer/deferred(_:)``.
public protocol PeripheralHost: Sendable {
    /// Answers a central's request to read.
    func read(_ request: ReadRequest) -> Answer

    /// Answers a central's request to write.
    func write(_ request: WriteRequest) -> Answer

    /// Answers a question that comes up while a central pairs.
    ///
    /// The answer is ``PairingAnswer/reject`` when nothing of the kind is declared, and when there is none after 30 s. A
    /// passkey that is still shown then counts as shown: ``PairingAnswer/accept``.
    /// To take the question back, cancel the calling task.
    func answer(_ request: PairingRequest) async -> PairingAnswer

    /// Takes note of what happened.
    func handle(_ event: BackendEvent)

    /// Finds the updates that have ended, or were submitted for a subscription that has, as far as the host was told: they are
    /// not to be sent any more.
    ///
    /// A backend asks right before it sends them, where no subscription can begin: ``BackendLink/submit(_:)`` may be called on
    /// another thread while a central subscribes anew, and what is for the earlier subscription would come to the next. It reports
    /// each of them as failed, as one for a central that has not subscribed.
    func whichAreOver(_ updates: [Update]) -> Set<Update.ID>

    /// Returns when all requests are answered that are in progress, which takes at most 4 s.
    ///
    /// A backend that was told to stop waits for this before it closes the way on which the answers go.
    func untilAnswered() async
}

/// How a request is answered: at once, or later.
public enum Answer: Sendable {
    /// The value that is read, nothing for a request to write, or the error.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The outcome itself.
    case immediate(Outcome)

    /// A function that has the outcome worked out, to be called at once and once.
    ///
    /// It returns immediately. What it is given takes the outcome: it is called exactly once, from any thread, and
    /// within 4 s where the central waits for a response.
    case deferred(_ start: @Sendable (_ deliver: @escaping @Sendable (Outcome) -> Void) -> Void)
}

/// A central's request to read an attribute, or its part from an offset on.
public struct ReadRequest: Hashable, Sendable {
    /// The attribute, by its handle in ``Publication/table``.
    public var attribute: AttributeHandle

    /// Where to begin, in bytes; 0 but in the later parts of a long read.
    public var offset: Int

    /// Who asks.
    public var central: Central

    /// Makes a request.
    public init(attribute: AttributeHandle, offset: Int = 0, central: Central) {
        self.attribute = attribute
        self.offset = offset
        self.central = central
    }
}

/// A central's request to write an attribute.
public struct WriteRequest: Hashable, Sendable {
    /// The attribute, by its handle in ``Publication/table``.
    public var attribute: AttributeHandle

    /// The bytes to write; the parts of a long write are already joined.
    public var value: [UInt8]

    /// Where to write, in bytes.
    public var offset: Int

    /// Whether the stack waits for the answer; not for a write without response, which may wait for its turn as
    /// long as it takes.
    public var expectsResponse: Bool

    /// Whether this only asks if the central may write, before it does: there is no value yet.
    ///
    /// The request that writes asks again. A stack that asks early, when a central prepares a write, spares that central
    /// to send what would be refused.
    public var isOnlyAuthorization: Bool

    /// Who asks.
    public var central: Central

    /// Makes a request.
    public init(
        attribute: AttributeHandle,
        value: [UInt8],
        offset: Int = 0,
        expectsResponse: Bool = true,
        isOnlyAuthorization: Bool = false,
        central: Central
    ) {
        self.attribute = attribute
        self.value = value
        self.offset = offset
        self.expectsResponse = expectsResponse
        self.isOnlyAuthorization = isOnlyAuthorization
        self.central = central
    }
}
