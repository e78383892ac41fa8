public import PeripheralCore

/// The side of a running ``Peripheral`` that a backend calls.
///
/// All calls are quick and never block. If a request takes time, the host answers with
/// ``BackendAnswer/deferred(_:)``.
public protocol PeripheralHost: Sendable {
    /// Answers a central's request to read.
    func read(_ request: BackendReadRequest) -> BackendAnswer

    /// Answers a central's request to write.
    func write(_ request: BackendWriteRequest) -> BackendAnswer

    /// Answers a question that the stack asks while a central pairs.
    ///
    /// The answer is ``BackendPairingAnswer/reject`` if the declared pairing does not handle the question, or
    /// if the handler does not answer within 30 seconds. If a handler still shows a passkey after 30 seconds,
    /// the answer is ``BackendPairingAnswer/accept``. To withdraw the question, cancel the calling task.
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer

    /// Handles an event.
    func handle(_ event: BackendEvent)

    /// Finds updates that must no longer be sent, according to the events reported so far.
    ///
    /// The returned updates have ended, or their subscriptions have ended. A backend calls this function
    /// right before it sends the updates, at a point where no subscription can begin. Without this check, a
    /// central that subscribes again could receive an update for its earlier subscription, because
    /// ``BackendLink/submit(_:)`` can run concurrently on another thread. The backend reports each returned
    /// update as failed, with the error for a central that has not subscribed.
    func whichAreOver(_ updates: [BackendUpdate]) -> Set<BackendUpdate.ID>

    /// Waits until all requests in progress are answered, for at most 4 seconds.
    ///
    /// After ``BackendLink/stop()``, a backend calls this function before it closes the connection that
    /// carries the answers.
    func untilAnswered() async
}

/// The answer to a request, delivered at once or later.
public enum BackendAnswer: Sendable {
    /// The value for a read, an empty array for a write, or the error that refuses the request.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// The outcome, which is available at once.
    case immediate(Outcome)

    /// A function that determines the outcome.
    ///
    /// The backend calls the function immediately, exactly once.
    ///
    /// The function returns at once. The function passes the outcome to `deliver` exactly once, from any
    /// thread. If the central waits for a response, the outcome is passed within 4 seconds.
    case deferred(_ start: @Sendable (_ deliver: @escaping @Sendable (Outcome) -> Void) -> Void)
}

/// A central's request to read an attribute, from an offset on.
public struct BackendReadRequest: Hashable, Sendable {
    /// The attribute, identified by its handle in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// The offset of the first byte to read; 0 except in the later parts of a long read.
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
    /// The attribute, identified by its handle in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// The bytes to write.
    ///
    /// The parts of a long write are already joined.
    public var value: [UInt8]

    /// The offset of the first byte to write.
    public var offset: Int

    /// Whether the stack waits for the answer.
    ///
    /// The value is `false` for a write without response. A write without response can wait for any time.
    public var expectsResponse: Bool

    /// Whether the request only asks whether the central can write.
    ///
    /// A request that only asks contains no value.
    ///
    /// A stack can ask early, when a central prepares a long write. If the central is not authorized, it does
    /// not have to send data that would be refused. The later request that writes the value is authorized
    /// again.
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
