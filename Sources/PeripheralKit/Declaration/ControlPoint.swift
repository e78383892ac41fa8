public import PeripheralCore

/// Carries out what centrals demand of a control point, in place of ``Write``, and indicates the response to each.
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
/// This is how the control points of the SIG's services work, such as the Record Access Control Point. What a central
/// writes is a `Request`; the characteristic's own value is the response. The characteristic has the properties `.write`
/// and `.indicate`, or `.notify` where a specification has the responses notified.
///
/// ## What is refused
///
/// A request is answered at once: either it is refused, or the write succeeds and the procedure begins. It is refused, in
/// this order:
/// - when the bytes are no `Request`, as at ``Write``;
/// - when the central has not subscribed to the characteristic, by
///   `ATTError.clientCharacteristicConfigurationImproperlyConfigured`. Where the Bluetooth stack does not tell who has
///   subscribed, or to what, it counts as subscribed;
/// - while another procedure of this control point runs for this central, by `ATTError.procedureAlreadyInProgress`. It
///   runs until the central has confirmed the response. A request that comes while only the confirmation is missing
///   waits for it, for 1 second at most;
/// - by what `accept` throws, as described at ``Read``.
///
/// See Core Specification Supplement, Part B, 1.2, for the two errors. BlueZ before 5.76 cannot carry the first. A service
/// whose specification has errors of its own gives these.
///
/// ## How a procedure runs
///
/// It begins when the write has been answered: whatever the handler sends comes after that. It runs in a task of its own,
/// as long as it takes, while other requests of the same central are served; procedures of several centrals, and of several
/// control points, run at the same time.
///
/// What the handler returns is sent when all that was sent to this central before has left, as far as that is known
/// (``PeripheralSession/pacing``); documents are not waited for. It is sent to this central alone. A response that is
/// longer than the central's ``Central/maximumUpdateValueLength`` arrives shortened.
///
/// BlueZ reaches one of several subscribers in two ways. Before 5.80, it reaches them only together, and all get the
/// response. From 5.80 on, it crashes when one of several unsubscribes before it confirms a response. Demand pairing by
/// `security`, so that no stranger can cause that.
///
/// The task is cancelled when the central leaves or unsubscribes, when the peripheral goes off the air, and when the
/// session ends. Nothing is sent then, whatever the handler returns. The run does not end before the handler has.
///
/// What the handler throws goes to the log, and the central gets no response, which it takes for a failure of the
/// whole connection after a while (30 seconds, in most services). So answer a request that fails by the response that the
/// service's specification has for that.
///
/// ## Aborting
///
/// A request that is an abort, as `isAbort` tells, is taken while another procedure runs. It cancels that one's task,
/// waits until it has ended, and is then carried out by the handler like any other. Only the abort is responded to, unless
/// the response of the other is already on its way: then both are sent, that of the abort last.
/// An abort that comes while another is carried out is refused like any other request.
public struct ControlPoint<Request: GATTValue, Response: GATTValue>: Sendable {
    let handler: ControlPointHandler
    let responds: Bool

    /// Hands the requests to the handler, with the central and the session.
    ///
    /// - Parameters:
    ///   - notSubscribed: By what a request is refused of a central that has not subscribed to the characteristic.
    ///   - busy: By what a request is refused while another procedure runs.
    ///   - accept: Decides whether a request is taken, before the write is answered, within 4 seconds; throwing refuses
    ///     it. What can be told by a response should be: this is for what the service's specification refuses by an error
    ///     of the Attribute Protocol.
    ///   - isAbort: Tells whether a request ends the procedure that runs.
    ///   - perform: Carries out the request, and returns the response.
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

    /// Hands the requests to the handler, whoever makes them.
    ///
    /// - Parameter perform: Carries out the request, and returns the response.
    public init(perform: @escaping @Sendable (_ request: Request) async throws -> Response) {
        self.init(perform: { request, _, _ in try await perform(request) })
    }
}

extension ControlPoint where Request == Response {
    /// Hands requests to the handler to which there is no response, such as those of the Bond Management Control Point.
    ///
    /// The characteristic has the property `.write` alone, and the central need not have subscribed to anything. The handler
    /// begins when the write has been answered, also when the central has left by then. Its task is cancelled as with
    /// responses, but when the body of the run ends, the session stays valid until the handler has ended.
    ///
    /// What has to be done in any case is done in a task of its own, which is not cancelled, and awaited.
    ///
    /// - Parameters:
    ///   - accept: Decides whether a request is taken, before the write is answered, within 4 seconds; throwing refuses
    ///     it.
    ///   - perform: Carries out the request.
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

/// Makes a request of the bytes that a central has written.
package typealias ControlPointHandler = @Sendable (_ value: [UInt8]) throws -> ControlPointRequest

/// A request to a control point, without its type.
package struct ControlPointRequest: Sendable {
    let responds: Bool
    /// What a central is told that has not subscribed, and one whose other request is carried out.
    var notSubscribed = ATTError.clientCharacteristicConfigurationImproperlyConfigured
    var busy = ATTError.procedureAlreadyInProgress
    let isAbort: Bool
    let accept: @Sendable (Central, PeripheralSession) async throws -> Void
    /// Returns the response, if there is one.
    let perform: @Sendable (Central, PeripheralSession) async throws -> [UInt8]?
}
