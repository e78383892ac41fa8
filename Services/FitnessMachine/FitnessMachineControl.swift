public import PeripheralKit

/// What centrals can control of a machine, and what carries out their requests.
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
/// One central at a time has the control: the one that has asked for it last, until it leaves, resets the machine, or the
/// user takes the control (``FitnessMachineService/takeControl(in:)``). Requests of others are refused, as are those of what
/// cannot be set, or is out of range; they do not come here.
public struct FitnessMachineControl: Sendable {
    let settings: [FitnessMachineSetting]
    let security: AttributeSecurity
    let carryOut: @Sendable (FitnessMachineRequest, Central) async throws -> Void

    /// Describes the control.
    ///
    /// - Parameters:
    ///   - settings: What can be set.
    ///   - security: What it takes to write the control point. The specification demands encryption; so the peripheral says how
    ///     centrals pair. Most trainers on the market are `.open`, and some apps cannot do without.
    ///   - carryOut: Carries out a request: of the settings, `.requestControl`, `.reset`, `.startOrResume`, `.stop` and `.pause`.
    ///     Throwing a ``FitnessMachineResult`` refuses it so; throwing anything else, by
    ///     ``FitnessMachineResult/operationFailed``, which is for a start of what runs and for a stop of what has been stopped
    ///     (section 4.16.2.22). Throwing at `.requestControl` leaves the control with the central that has it.
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

    /// Between which speeds a spin down goes.
    var spinDown: ClosedRange<Double>? {
        settings.first { $0.opCode == 0x13 }?.bounds
    }

    /// Why a request is refused before anything is done; `nil` when it is not.
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
