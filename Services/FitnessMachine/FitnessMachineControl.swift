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
/// At most one central controls the machine at any time. A central loses control when it disconnects, when it
/// resets the machine, or when another central obtains control. When the user takes control of the machine,
/// call ``FitnessMachineService/takeControl(in:)`` to remove control from the central.
///
/// A central that does not control the machine can only request control. The service refuses all other
/// requests from a central without control. The service refuses a request if the setting is not declared, or
/// if the value is out of range. The service does not pass refused requests to the handler.
public struct FitnessMachineControl: Sendable {
    let settings: [FitnessMachineSetting]
    let security: AttributeSecurity
    let carryOut: @Sendable (FitnessMachineRequest, Central) async throws -> Void

    /// Declares the settings that centrals can control, and the request handler.
    ///
    /// - Parameters:
    ///   - settings: The settings that centrals can change.
    ///   - security: The security required to write to the Fitness Machine Control Point. The Fitness Machine
    ///     Service specification requires encryption. If the control point requires encryption, the
    ///     peripheral must declare a `pairing` method. Most bike trainers on the market require no encryption
    ///     (`.open`). Some apps support only machines that require no encryption.
    ///   - carryOut: Carries out a request for a declared setting, or one of the requests `.requestControl`,
    ///     `.reset`, `.startOrResume`, `.stop` and `.pause`. To refuse a request, throw a
    ///     ``FitnessMachineResult``. The response to the central contains the thrown
    ///     ``FitnessMachineResult``. If the handler throws an error that is not a ``FitnessMachineResult``,
    ///     the response contains ``FitnessMachineResult/operationFailed``. Throw
    ///     ``FitnessMachineResult/operationFailed`` for a request to start a running workout, or to stop a
    ///     stopped workout (Fitness Machine Service 1.0, section 4.16.2.22). If the handler throws an error
    ///     for `.requestControl`, the requesting central does not receive control.
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
