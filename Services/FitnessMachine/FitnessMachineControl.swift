public import PeripheralKit

/// The settings that centrals can control, and the handler of their requests.
///
/// ```swift
/// FitnessMachineControl([.targetPower(watts: 0...400, step: 5), .bikeSimulation]) { request, _ in
///     switch request {
///     case .targetPower(let watts): await brake.hold(watts)
///     case .bikeSimulation(let simulation): await brake.simulate(simulation)
///     case .startOrResume: guard await motor.start() else { throw FitnessMachineResult.operationFailed }
///     case .stop, .pause: await motor.stop()
///     case .reset: await motor.reset()
///     default: break
///     }
/// }
/// ```
///
/// One central at a time controls the machine: the last central that has requested control. Control ends when
/// the central disconnects or resets the machine, or when the user takes control
/// (``FitnessMachineService/takeControl(in:)``).
///
/// The service refuses requests of centrals that do not control the machine, except requests for control. The
/// service also refuses requests for undeclared settings, and requests with a value that is out of range. The
/// handler does not receive refused requests.
public struct FitnessMachineControl: Sendable {
    let settings: [FitnessMachineSetting]
    let security: AttributeSecurity
    let carryOut: @Sendable (FitnessMachineRequest, Central) async throws -> Void

    /// Creates the control with its settings and the handler of requests.
    ///
    /// - Parameters:
    ///   - settings: The settings that centrals can change.
    ///   - security: The security required to write the control point. The specification demands encryption,
    ///     so the peripheral must declare how centrals pair. Most trainers on the market use `.open`, and
    ///     some apps require `.open`.
    ///   - carryOut: Carries out a request: one of the settings, `.requestControl`, `.reset`,
    ///     `.startOrResume`, `.stop` or `.pause`. Throw a ``FitnessMachineResult`` to refuse the request with
    ///     this result. Any other error refuses the request with ``FitnessMachineResult/operationFailed``.
    ///     ``FitnessMachineResult/operationFailed`` is also the result if a central starts a running training
    ///     or stops a stopped training (section 4.16.2.22). If the handler throws for `.requestControl`, the
    ///     controlling central keeps control.
    public init(
        _ settings: [FitnessMachineSetting],
        security: AttributeSecurity = .encrypted,
        onRequest carryOut:
            @escaping @Sendable (
                _ request: FitnessMachineRequest, _ central: Central
            ) async throws -> Void
    ) {
        self.settings = settings
        self.security = security
        self.carryOut = carryOut
    }

    /// The bits of the Target Setting Features.
    var features: UInt32 {
        settings.reduce(0) { $0 | 1 << $1.featureBit }
    }

    /// The speeds between which a spin down takes place.
    var spinDown: ClosedRange<Double>? {
        settings.first { $0.opCode == 0x13 }?.bounds
    }

    /// The reason to refuse a request before it is carried out; `nil` to carry it out.
    func refusal(of request: FitnessMachineRequest, hasControl: Bool) -> FitnessMachineResult? {
        let setting = settings.first { $0.opCode == request.opCode }
        switch request.opCode {
        case 0x00, 0x01, 0x07, 0x08: break
        default: if setting == nil { return .opCodeNotSupported }
        }
        if !hasControl, request.opCode != 0x00 { return .controlNotPermitted }
        if case .unknown = request { return .invalidParameter }
        if let setting, !setting.takes(request.number) { return .invalidParameter }
        return nil
    }
}
