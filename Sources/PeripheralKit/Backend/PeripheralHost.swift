public import Logging
public import PeripheralCore

/// The interface that a running ``Peripheral`` provides to its backend.
///
/// The functions of a host never block a thread. The synchronous functions return at once. If the host cannot
/// answer a request at once, the host returns ``BackendAnswer/deferred(_:)``.
public protocol PeripheralHost: Sendable {
    /// The logger of the run.
    ///
    /// A backend logs events that it cannot report to the program in another way. The host limits the number
    /// of lines of each kind at info level and above. The host itself logs the requests, updates and events
    /// that a backend reports.
    var logger: Logger { get }

    /// Answers a request of a central to read an attribute.
    func read(_ request: BackendReadRequest) -> BackendAnswer

    /// Answers a request of a central to write an attribute.
    func write(_ request: BackendWriteRequest) -> BackendAnswer

    /// Answers a question that the stack asks while a central pairs.
    ///
    /// The host answers ``BackendPairingAnswer/reject`` if the declared pairing does not handle the question,
    /// or if the handler of the question does not answer within 30 seconds. If a handler still shows a
    /// passkey after 30 seconds, the host answers ``BackendPairingAnswer/accept``. To withdraw a question,
    /// cancel the calling task.
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer

    /// Whether centrals may pair now.
    ///
    /// While the property is `false`, the backend lets the stack refuse to pair, and the host refuses all
    /// questions. ``BackendLink/pairingAllowanceChanged()`` announces each change. The default value is
    /// `true`.
    var allowsPairing: Bool { get }

    /// Uses or closes an L2CAP channel that a connected central has opened.
    ///
    /// The host calls ``BackendChannel/begin(_:)`` or ``BackendChannel/abort()`` before this function
    /// returns.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - central: The central.
    ///   - listener: The index of the listener in ``BackendPublication/listeners``.
    func open(_ channel: any BackendChannel, of central: Central.ID, through listener: Int)

    /// Handles an event that the backend reports.
    func handle(_ event: BackendEvent)

    /// Waits until all requests in progress are answered.
    ///
    /// The wait ends after at most 4 seconds.
    ///
    /// After ``BackendLink/stop()``, a backend calls this function before it closes the connection over which
    /// it sends the answers.
    func untilAnswered() async
}

extension PeripheralHost {
    /// The value `true`: centrals may always pair.
    public var allowsPairing: Bool { true }
}

/// The host's answer to a request, either immediate or deferred.
public enum BackendAnswer: Sendable {
    /// The result of a request.
    ///
    /// For a successful read, the outcome is the value. For a successful write, the outcome is an empty
    /// array. For a refused request, the outcome is an `ATTError`.
    public typealias Outcome = Result<[UInt8], ATTError>

    /// An answer that already contains the outcome of the request.
    case immediate(Outcome)

    /// A function that delivers the outcome of the request later.
    ///
    /// The backend calls the function `start` exactly once, immediately after the backend has received the
    /// answer.
    ///
    /// The function `start` returns at once, and does not wait for the outcome of the request. The host
    /// passes the outcome to `deliver` exactly once, from any thread. If the central waits for a response,
    /// the host passes the outcome to `deliver` within 4 seconds.
    case deferred(_ start: @Sendable (_ deliver: @escaping @Sendable (Outcome) -> Void) -> Void)
}

/// A request from a central to read an attribute, starting at an offset.
public struct BackendReadRequest: Hashable, Sendable {
    /// The handle of the attribute in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// The offset of the first byte to read.
    ///
    /// The offset is 0 for the first part of a read, and greater than 0 for the later parts of a long read.
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

/// A request from a central to write an attribute.
public struct BackendWriteRequest: Hashable, Sendable {
    /// The handle of the attribute in ``BackendPublication/table``.
    public var attribute: AttributeHandle

    /// The bytes that the central writes.
    ///
    /// For a long write, the backend joins the parts before it calls the host.
    public var value: [UInt8]

    /// The offset of the first written byte in the value.
    public var offset: Int

    /// Whether the stack waits for the host's answer.
    ///
    /// `expectsResponse` is `false` for a write without response. The host has no time limit for a write
    /// without response.
    public var expectsResponse: Bool

    /// Whether the request asks only for permission to write.
    ///
    /// A request for permission contains no value.
    ///
    /// A stack can ask the host for permission when a central prepares a long write. If the host refuses
    /// permission, the write ends before the central sends the complete value. If the host grants permission,
    /// a later request contains the value. The host checks the permission again when it receives the value.
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
