public import PeripheralCore

/// The side of a running ``Peripheral`` that a backend calls.
///
/// Calls are quick and never block. ``BackendAnswer/deferred(_:)`` answers requests that take time.
public protocol PeripheralHost: Sendable {
    /// Answers a central's request to read.
    func read(_ request: BackendReadRequest) -> BackendAnswer

    /// Answers a central's request to write.
    func write(_ request: BackendWriteRequest) -> BackendAnswer

    /// Answers a question that the stack asks while a central pairs.
    ///
    /// The answer is ``BackendPairingAnswer/reject`` if the declared pairing does not handle the question, or
    /// after 30 seconds without an answer. A passkey that is still shown after this time counts as shown:
    /// ``BackendPairingAnswer/accept``. To withdraw the question, cancel the calling task.
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer

    /// Handles an event.
    func handle(_ event: BackendEvent)

    /// Finds updates that must no longer be sent, according to the events reported so far.
    ///
    /// They have ended, or their subscription has ended. A backend calls this right before it sends the
    /// updates, at a point where no subscription can begin. Otherwise, an update for an earlier subscription
    /// could reach the next one, because ``BackendLink/submit(_:)`` can be called on another thread while a
    /// central subscribes again. The backend reports each of them as failed, as for a central that has not
    /// subscribed.
    func whichAreOver(_ updates: [BackendUpdate]) -> Set<BackendUpdate.ID>

    /// Waits until all requests in progress are answered, for at most 4 seconds.
    ///
    /// A backend that was stopped waits for this before it closes the connection that carries the answers.
    func untilAnswered() async
}

/// The answer to a request, given at once or later.
public enum BackendAnswer: Sendable {
    /// The value for a read, an empty array for a write, or the error.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The outcome.
    case immediate(Outcome)

    /// A function that determines the outcome. The backend calls it immediately, exactly once.
    ///
    /// It returns at once. It passes the outcome to `deliver` exactly once, from any thread. If the central
    /// waits for a response, it does so within 4 seconds.
    case deferred(_ start: @Sendable (_ deliver: @escaping @Sendable (Outcome) -> Void) -> Void)
}

/// A central's request to read an attribute, or its part from an offset on.
public struct BackendReadRequest: Hashable, Sendable {
    /// The attribute, by its handle in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// Where to begin, in bytes; 0 except in the later parts of a long read.
    public var offset: Int

    /// The central that sends the request.
    public var central: Central

    /// Creates a request.
    public init(attribute: AttributeHandle, offset: Int = 0, central: Central) {
        self.attribute = attribute
        self.offset = offset
        self.central = central
    }
}

/// A central's request to write an attribute.
public struct BackendWriteRequest: Hashable, Sendable {
    /// The attribute, by its handle in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// The bytes to write.
    ///
    /// The parts of a long write are already joined.
    public var value: [UInt8]

    /// Where to write, in bytes.
    public var offset: Int

    /// Whether the stack waits for the answer.
    ///
    /// It is `false` for a write without response, which can wait for its turn for any time.
    public var expectsResponse: Bool

    /// Whether the request only asks if the central can write.
    ///
    /// It then has no value.
    ///
    /// The request that writes is authorized again. A stack can ask early, when a central prepares a long
    /// write. The central then need not send data that would be refused.
    public var isOnlyAuthorization: Bool

    /// The central that sends the request.
    public var central: Central

    /// Creates a request.
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
