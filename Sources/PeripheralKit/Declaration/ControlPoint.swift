public import PeripheralCore

/// Performs the requests that centrals write to a control point, and sends a response to each.
///
/// ```swift
/// let controlPoint = Characteristic<LampResponse>(
///     "5c3a0004-7e3c-4b6e-9d29-b3f1c0a1d001", [.write, .indicate]
/// ) {
///     ControlPoint { (request: LampRequest) in
///         switch request {
///         case .blink(let count):
///             try await lamp.blink(count)
///             return .done
///         }
///     }
/// }
/// ```
///
/// Use a control point in place of ``Write``. The control points of the SIG's services work this way, such as
/// the Record Access Control Point. What a central writes is a `Request`; the characteristic's own value is
/// the response. The characteristic has the properties `.write` and `.indicate`. If a specification notifies
/// the responses, it has `.write` and `.notify`.
///
/// ## How requests are refused
///
/// A request is answered at once. Either it is refused, or the write succeeds and the procedure begins. A
/// request is refused, in this order:
///
/// - if the bytes are not a `Request`, as described at ``Write``;
/// - if the central has not subscribed to the characteristic, with
///   `ATTError.clientCharacteristicConfigurationImproperlyConfigured`. If the Bluetooth stack does not report
///   which central has subscribed, or to what, the central counts as subscribed;
/// - while another procedure of this control point runs for this central, with
///   `ATTError.procedureAlreadyInProgress`. A procedure runs until the central has confirmed the response. If
///   only the confirmation is missing, a new request waits for it for at most 1 second;
/// - with the error that `accept` throws, as described at ``Read``.
///
/// Core Specification Supplement, Part B, 1.2, defines the two errors. Not every Bluetooth stack can carry
/// the first. If the service's specification has errors of its own, pass them to the initializer.
///
/// ## How a procedure runs
///
/// A procedure begins after the write has been answered, so everything that the handler sends follows that
/// answer. It runs in a separate task and can take any time. Other requests of the same central are served
/// meanwhile. Procedures of different centrals and of different control points run concurrently.
///
/// The response is sent to this central alone, after all earlier values for it have left the device, as far
/// as that is known (``PeripheralSession/completionReporting``). It does not wait for documents. A response
/// longer than the central's ``Central/maximumUpdateValueLength`` arrives truncated.
///
/// Some stacks can reach several subscribers only together; then all of them receive the response. On some
/// stacks, a central can crash the stack by unsubscribing before it confirms a response. To exclude unknown
/// centrals from this, require pairing with `security`.
///
/// The task is cancelled when the central disconnects or unsubscribes, when the peripheral goes off the air,
/// and when the session ends. No response is sent then. The run does not end before the handler returns.
///
/// An error that the handler throws is logged, and the central receives no response. After a while (30
/// seconds in most services), the central considers the whole connection failed. If a request fails, return
/// the response that the service's specification defines for this case.
///
/// ## Aborting a procedure
///
/// A request is an abort if `isAbort` returns `true` for it. An abort is accepted while another procedure
/// runs. It cancels that procedure's task and waits until the task has ended. Then the handler performs the
/// abort like any other request. Only the abort gets a response, unless the response of the other procedure
/// is already being sent. Then both are sent, that of the abort last. A second abort is refused like any
/// other request while the first one runs.
public struct ControlPoint<Request: GATTValue, Response: GATTValue>: Sendable {
    let handler: ControlPointHandler
    let responds: Bool

    /// Creates a control point whose handler receives each request with its central and the session.
    ///
    /// - Parameters:
    ///   - notSubscribed: The error that refuses a request of a central that has not subscribed.
    ///   - busy: The error that refuses a request while another procedure runs.
    ///   - accept: Decides whether a request is accepted, before the write is answered, within 4 seconds. An
    ///     error that it throws refuses the request. Prefer to report errors in the response. Use this only
    ///     for errors that the service's specification reports with the Attribute Protocol.
    ///   - isAbort: Returns whether a request aborts the running procedure.
    ///   - perform: Performs the request and returns the response.
    public init(
        errorWhenNotSubscribed notSubscribed: ATTError =
            .clientCharacteristicConfigurationImproperlyConfigured,
        errorWhenBusy busy: ATTError = .procedureAlreadyInProgress,
        accept:
            @escaping @Sendable (
                _ request: Request, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void = { _, _, _ in },
        isAbort: @escaping @Sendable (_ request: Request) -> Bool = { _ in false },
        perform:
            @escaping @Sendable (
                _ request: Request, _ central: Central, _ session: PeripheralSession
            ) async throws -> Response
    ) {
        responds = true
        handler = { bytes in
            let request = try Request(gattBytes: bytes)
            return ControlPointRequest(
                responds: true,
                notSubscribed: notSubscribed,
                busy: busy,
                isAbort: isAbort(request),
                accept: { central, session in try await accept(request, central, session) },
                perform: { central, session in try await perform(request, central, session).gattBytes }
            )
        }
    }

    /// Creates a control point whose handler receives only the request.
    ///
    /// - Parameter perform: Performs the request and returns the response.
    public init(perform: @escaping @Sendable (_ request: Request) async throws -> Response) {
        self.init(perform: { request, _, _ in try await perform(request) })
    }
}

extension ControlPoint where Request == Response {
    /// Creates a control point without responses, such as the Bond Management Control Point.
    ///
    /// The characteristic has the property `.write` alone, and the central need not subscribe. The handler
    /// begins after the write has been answered, even if the central has disconnected meanwhile. Its task is
    /// cancelled as described at ``ControlPoint``. When the body of the run ends, however, the session stays
    /// valid until the handler has returned.
    ///
    /// For work that must not be cancelled, start a separate task in the handler and await it.
    ///
    /// - Parameters:
    ///   - accept: Decides whether a request is accepted, before the write is answered, within 4 seconds. An
    ///     error that it throws refuses the request.
    ///   - perform: Performs the request.
    public init(
        accept:
            @escaping @Sendable (
                _ request: Request, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void = { _, _, _ in },
        performWithoutResponse perform:
            @escaping @Sendable (
                _ request: Request, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void
    ) {
        responds = false
        handler = { bytes in
            let request = try Request(gattBytes: bytes)
            return ControlPointRequest(
                responds: false,
                isAbort: false,
                accept: { central, session in try await accept(request, central, session) },
                perform: { central, session in
                    try await perform(request, central, session)
                    return nil
                }
            )
        }
    }
}

/// Decodes a request from the bytes that a central has written.
package typealias ControlPointHandler = @Sendable (_ value: [UInt8]) throws -> ControlPointRequest

/// A request to a control point, without its type.
package struct ControlPointRequest: Sendable {
    let responds: Bool
    /// The errors that refuse a request: without a subscription, and during another procedure.
    var notSubscribed = ATTError.clientCharacteristicConfigurationImproperlyConfigured
    var busy = ATTError.procedureAlreadyInProgress
    let isAbort: Bool
    let accept: @Sendable (Central, PeripheralSession) async throws -> Void
    /// Returns the response, if there is one.
    let perform: @Sendable (Central, PeripheralSession) async throws -> [UInt8]?
}
