public import PeripheralKit

/// The settings that centrals can control, and the handler for control requests.
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
/// Only one central at a time controls the machine: the central that most recently obtained control. Control
/// ends when the controlling central disconnects or resets the machine. If the user takes control, call
/// ``FitnessMachineService/takeControl(in:)`` to end the central's control.
///
/// If a central does not control the machine, the service refuses all requests from the central except
/// requests for control. The service refuses requests for undeclared settings, and requests with out-of-range
/// values. The service does not pass refused requests to the handler.
public struct FitnessMachineControl: Sendable {
    let settings: [FitnessMachineSetting]
    let security: AttributeSecurity
    let carryOut: @Sendable (FitnessMachineRequest, Central) async throws -> Void

    /// Declares the settings that centrals can control, and the request handler.
    ///
    /// - Parameters:
    ///   - settings: The settings that centrals can change.
    ///   - security: The security required to write to the Fitness Machine Control Point. The Fitness
    ///     Machine Service specification requires encryption. For encryption, the peripheral must declare how
    ///     centrals pair. Most trainers on the market use `.open`, and some apps require `.open`.
    ///   - carryOut: Carries out a request for a declared setting, or one of the requests `.requestControl`,
    ///     `.reset`, `.startOrResume`, `.stop` and `.pause`. To refuse a request, throw a
    ///     ``FitnessMachineResult``. The response contains this ``FitnessMachineResult``. If the handler
    ///     throws an error of another type, the response contains ``FitnessMachineResult/operationFailed``.
    ///     Throw
    ///     ``FitnessMachineResult/operationFailed`` if a central tries to start a workout that is already
    ///     running, or to stop a workout that has already stopped (Fitness Machine Service 1.0, section
    ///     4.16.2.22). If the handler throws an error for `.requestControl`, the controlling central does not
    ///     change.
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
