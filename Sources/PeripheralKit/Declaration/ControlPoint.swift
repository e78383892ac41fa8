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
/// Declare a control point instead of a ``Write`` if centrals write requests and receive responses. An
/// example of a control point is the Record Access Control Point of the Bluetooth SIG. A central writes a
/// `Request` to the characteristic. The value of the characteristic is the response to the request. Declare
/// the characteristic with the properties `.write` and `.indicate`. If the specification of the service
/// requires notifications for the responses, declare the properties `.write` and `.notify` instead.
///
/// ## How requests are refused
///
/// When a central writes a request, the peripheral immediately answers the write. If the peripheral refuses
/// the request, the write fails. If the peripheral accepts the request, the write succeeds, and the requested
/// procedure begins. The peripheral refuses a request in the following cases. The peripheral checks the cases
/// in the order of this list:
///
/// - The written bytes are not a valid `Request`. ``Write`` describes the ATT error for bytes that cannot be
///   decoded.
/// - The central has not subscribed to the characteristic. The error for a missing subscription is
///   `ATTError.clientCharacteristicConfigurationImproperlyConfigured`. If the Bluetooth stack does not report
///   which central has subscribed to the characteristic, the peripheral treats every central as subscribed.
/// - The control point is still running an earlier procedure for the same central. The error for a request
///   during a running procedure is `ATTError.procedureAlreadyInProgress`. A procedure ends when the central
///   has confirmed the response. A new request waits at most 1 second for the central to confirm the response
///   to the earlier request.
/// - The `accept` closure throws an error. ``Read`` describes which ATT error the central receives if a
///   closure throws an error.
///
/// Part B, section 1.2, of the Core Specification Supplement defines two errors: the error for a missing
/// subscription, and the error for a running procedure. Some Bluetooth stacks cannot send
/// `ATTError.clientCharacteristicConfigurationImproperlyConfigured` to a central. If the specification of the
/// service defines its own errors for a missing subscription or a running procedure, pass these errors to the
/// initializer.
///
/// ## How a procedure runs
///
/// A procedure begins after the peripheral has answered the write of the request. The central first receives
/// the answer to the write, and then the values that the handler sends. A procedure runs in a separate task,
/// without a time limit. During a procedure, the peripheral continues to serve other requests from the same
/// central. Procedures of different centrals and of different control points run concurrently.
///
/// The peripheral sends the response only to the central that wrote the request. The peripheral sends the
/// response after all earlier values for the same central have left the device.
/// ``PeripheralSession/completionReporting`` describes how accurately the Bluetooth stack reports that a
/// value has left the device. While the program sends a document in chunks, the peripheral can send the
/// response between two chunks. If a response is longer than the ``Central/maximumUpdateValueLength`` of the
/// central, the central receives a truncated response.
///
/// If the Bluetooth stack can send a value only to all subscribers together, all subscribers receive the
/// response. Some Bluetooth stacks crash if a central unsubscribes before it confirms a response. To
/// prevent this, use the `security` parameter of the characteristic to require pairing. Unknown centrals then
/// cannot crash the Bluetooth stack.
///
/// The peripheral cancels the task of a procedure when one of the following events occurs:
///
/// - The central disconnects or unsubscribes.
/// - The peripheral is no longer published.
/// - The session ends.
///
/// After the cancellation of a procedure, the peripheral sends no response. The run of the peripheral ends
/// only after the handler of the procedure has returned.
///
/// If the handler throws an error, the peripheral logs the error, and the central receives no response. If
/// the central receives no response within the time limit of the service, the central assumes that the
/// connection has failed. In most services, the time limit for a response is 30 seconds. If a request fails,
/// return the response that the specification of the service defines for a failed request.
///
/// ## Aborting a procedure
///
/// A request is an abort request if the `isAbort` closure returns `true` for the request. The peripheral
/// accepts an abort request while another procedure runs. An abort request cancels the task of the running
/// procedure, and waits until the cancelled task has ended. After the cancelled task has ended, the handler
/// performs the abort request like any other request.
///
/// Usually, the central receives only the response to the abort request. If the peripheral is already sending
/// the response of the cancelled procedure, the central receives two responses. First, the central receives
/// the response of the cancelled procedure. Then the central receives the response to the abort request.
/// While an abort request is in progress, the peripheral refuses all other requests, including abort
/// requests.
public struct ControlPoint<Request: GATTValue, Response: GATTValue>: Sendable {
    let handler: ControlPointHandler
    let responds: Bool

    /// Creates a control point whose handler receives the request, the central and the session.
    ///
    /// - Parameters:
    ///   - notSubscribed: The ATT error for a request from a central that has not subscribed.
    ///   - busy: The ATT error for a request that arrives while another procedure runs.
    ///   - accept: Decides whether the control point accepts a request. The peripheral calls the `accept`
    ///     closure before it answers the write. The `accept` closure must return within 4 seconds. If the
    ///     `accept` closure throws an error, the peripheral refuses the request. Throw an error only if the
    ///     specification of the service defines that error as an ATT error. If the specification of the
    ///     service defines a response for the error, accept the request, and return the response from the
    ///     `perform` closure.
    ///   - isAbort: Returns whether a request is an abort request, which cancels the running procedure.
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
            let request = try Request(written: bytes)
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
    /// Declare the characteristic with only the property `.write`. A central can write requests without
    /// subscribing. The handler begins after the peripheral has answered the write, even if the central has
    /// already disconnected. ``ControlPoint`` lists the events that cancel the task of the handler. The
    /// session stays valid until the handler has returned, even if the closure of
    /// ``Peripheral/run(on:logger:_:)`` returns earlier.
    ///
    /// For work that must not be cancelled, start a separate task in the handler and await that task.
    ///
    /// - Parameters:
    ///   - accept: Decides whether the control point accepts a request. The peripheral calls the `accept`
    ///     closure before it answers the write. The `accept` closure must return within 4 seconds. If the
    ///     `accept` closure throws an error, the peripheral refuses the request.
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
            let request = try Request(written: bytes)
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
    /// The ATT errors for a request without a subscription, and for a request during another procedure.
    var notSubscribed = ATTError.clientCharacteristicConfigurationImproperlyConfigured
    var busy = ATTError.procedureAlreadyInProgress
    let isAbort: Bool
    let accept: @Sendable (Central, PeripheralSession) async throws -> Void
    /// Performs the request and returns the response, or `nil` if the control point sends no responses.
    let perform: @Sendable (Central, PeripheralSession) async throws -> [UInt8]?
}
