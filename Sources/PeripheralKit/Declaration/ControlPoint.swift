public import PeripheralCore

/// Performs the requests that centrals write to a control point, and responds to each request.
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
/// Use a control point instead of a ``Write``. The control points of the SIG's services work this way. An
/// example is the Record Access Control Point. A central writes a `Request`. The value of the characteristic
/// is the response. Declare the characteristic with the properties `.write` and `.indicate`. If the service's
/// specification requires notifications for the responses, declare `.write` and `.notify`.
///
/// ## How requests are refused
///
/// The write of a request is answered at once. Either the write is refused, or the write succeeds and the
/// procedure begins. A request is refused for one of the following reasons, which are checked in this order:
///
/// - The bytes are not a `Request`. The error is described at ``Write``.
/// - The central has not subscribed to the characteristic. The error is
///   `ATTError.clientCharacteristicConfigurationImproperlyConfigured`. If the Bluetooth stack does not
///   identify subscribers or their subscriptions, every central counts as subscribed.
/// - Another procedure of this control point runs for this central. The error is
///   `ATTError.procedureAlreadyInProgress`. A procedure runs until the central has confirmed the response. If
///   only the confirmation is missing, a new request waits for the confirmation for at most 1 second.
/// - The `accept` closure throws an error. The error is converted as described at ``Read``.
///
/// Core Specification Supplement, Part B, 1.2, defines the two ATT errors in this list. Not every Bluetooth
/// stack can carry `ATTError.clientCharacteristicConfigurationImproperlyConfigured`. If the service's
/// specification defines other errors for these cases, pass those errors to the initializer.
///
/// ## How a procedure runs
///
/// A procedure begins after the write has been answered. Therefore, every value that the handler sends
/// follows that answer. The procedure runs in a separate task and can take any time. Meanwhile, other
/// requests of the same central are served. Procedures of different centrals and of different control points
/// run concurrently.
///
/// The response is sent only to the central that wrote the request. The response is sent after all earlier
/// values for that central have left the device, as far as the stack reports this
/// (``PeripheralSession/completionReporting``). The response does not wait for documents. A response longer
/// than the central's ``Central/maximumUpdateValueLength`` arrives truncated.
///
/// Some stacks can reach several subscribers only together. On these stacks, all subscribers receive the
/// response. Some stacks crash if a central unsubscribes before it confirms a response. To prevent unknown
/// centrals from causing such a crash, require pairing with the `security` parameter of the characteristic.
///
/// The task of a procedure is cancelled when one of the following events occurs:
///
/// - The central disconnects or unsubscribes.
/// - The peripheral goes off the air.
/// - The session ends.
///
/// After the cancellation, no response is sent. The run does not end before the handler returns.
///
/// An error that the handler throws is logged, and the central receives no response. If the response does not
/// arrive in time (30 seconds in most services), the central considers the whole connection failed. If a
/// request fails, return the response that the service's specification defines for this case.
///
/// ## Aborting a procedure
///
/// A request is an abort if `isAbort` returns `true` for the request. An abort is accepted while another
/// procedure runs. The abort cancels that procedure's task and waits until the task has ended. Then the
/// handler performs the abort like any other request.
///
/// Usually, only the abort receives a response. If the response of the other procedure is already being sent,
/// both responses are sent. The response of the abort is the last of the two. While an abort runs, a second
/// abort is refused like any other request.
public struct ControlPoint<Request: GATTValue, Response: GATTValue>: Sendable {
    let handler: ControlPointHandler
    let responds: Bool

    /// Creates a control point whose handler receives each request with its central and the session.
    ///
    /// - Parameters:
    ///   - notSubscribed: The error that refuses a request of a central that has not subscribed.
    ///   - busy: The error that refuses a request while another procedure runs.
    ///   - accept: Decides whether a request is accepted. The closure is called before the write is answered,
    ///     and can take 4 seconds. An error that the closure throws refuses the request. Prefer to report
    ///     errors in the response. Use this closure only for errors that the service's specification reports
    ///     with the Attribute Protocol.
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
    /// Declare the characteristic with only the property `.write`. The central does not have to subscribe.
    /// The handler begins after the write has been answered, even if the central has disconnected meanwhile.
    /// The handler's task is cancelled as described at ``ControlPoint``. After the body of the run has ended,
    /// however, the session stays valid until the handler has returned.
    ///
    /// For work that must not be cancelled, start a separate task in the handler and await that task.
    ///
    /// - Parameters:
    ///   - accept: Decides whether a request is accepted. The closure is called before the write is answered,
    ///     and can take 4 seconds. An error that the closure throws refuses the request.
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
    /// The errors that refuse a request without a subscription, or during another procedure.
    var notSubscribed = ATTError.clientCharacteristicConfigurationImproperlyConfigured
    var busy = ATTError.procedureAlreadyInProgress
    let isAbort: Bool
    let accept: @Sendable (Central, PeripheralSession) async throws -> Void
    /// Performs the request and returns the response; `nil` if the control point sends no responses.
    let perform: @Sendable (Central, PeripheralSession) async throws -> [UInt8]?
}
