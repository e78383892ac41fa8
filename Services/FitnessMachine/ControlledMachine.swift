internal import PeripheralKit
private import Synchronization

/// What is the same for all kinds of machines: their status, and who controls them.
struct ControlledMachine: Sendable {
    let trainingStatus: Characteristic<TrainingStatus>?
    let status: Characteristic<FitnessMachineStatus>?

    private let keptStatus: KeptStatus
    private let permission = ControlPermission()

    init(trainingStatus: TrainingStatus?, hasControl: Bool, security: AttributeSecurity) {
        let kept = KeptStatus(trainingStatus ?? .idle)
        keptStatus = kept
        self.trainingStatus = trainingStatus.map { _ in
            Characteristic(.trainingStatus, [.read, .notify], security: security) {
                Read { central in kept.value.readable(upTo: central.maximumUpdateValueLength) }
            }
        }
        status = hasControl ? Characteristic(.fitnessMachineStatus, .notify, security: security) : nil
    }

    func controlPoint(_ control: FitnessMachineControl) -> Characteristic<FitnessMachineResponse> {
        Characteristic(.fitnessMachineControlPoint, [.write, .indicate], security: control.security) {
            ControlPoint(perform: { (request: FitnessMachineRequest, central, session) in
                try await respond(to: request, of: central, by: control, in: session)
            })
        }
    }

    func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        guard let trainingStatus, keptStatus.replace(by: status),
            let room = try session.room(for: trainingStatus)
        else { return }
        try await session.notify(trainingStatus, status.notified(upTo: room))
    }

    func tell(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        guard let characteristic = self.status, status.isSent else { return }
        try await session.notify(characteristic, status)
    }

    func takeControl(in session: PeripheralSession) async throws {
        try await tellLoss(permission.take(), in: session)
    }

    private func respond(
        to request: FitnessMachineRequest,
        of central: Central,
        by control: FitnessMachineControl,
        in session: PeripheralSession
    ) async throws -> FitnessMachineResponse {
        let hasControl = permission.isHeld(by: central)
        if let refusal = control.refusal(of: request, hasControl: hasControl) {
            return FitnessMachineResponse(refusal, to: request)
        }
        // By the time that it is carried out, the central may have left and be back.
        let connection = session.connection(of: central)
        do {
            try await control.carryOut(request, central)
        } catch let refusal as FitnessMachineResult {
            return FitnessMachineResponse(refusal, to: request)
        } catch {
            // Nobody waits for a response any more.
            try Task.checkCancellation()
            return FitnessMachineResponse(.operationFailed, to: request)
        }
        switch request {
        case .requestControl:
            try await tellLoss(permission.give(to: central, for: connection), in: session)
        case .reset:
            permission.drop(by: central)
            try await update(to: .idle, in: session)
        default: break
        }
        try await tell(.changed(request), in: session)
        let spinDown = request.opCode == 0x13 ? control.spinDownSpeeds : nil
        return FitnessMachineResponse(.success, to: request, spinDown: spinDown)
    }

    /// Tells a central that it has lost the control.
    private func tellLoss(_ central: Central?, in session: PeripheralSession) async throws {
        guard let central, let status else { return }
        do {
            try await session.notify(status, .controlPermissionLost, to: central)
        } catch let error as PeripheralError where error.code == .notAddressable {
            // Whoever gets the control by this is told so after it.
            try await session.notify(status, .controlPermissionLost)
        } catch let error as PeripheralError where error.code != .stopped {
            // It is gone, or does not want to know.
        }
    }
}

/// Which central has the control of a machine, and during which of its connections.
private final class ControlPermission: Sendable {
    private struct Holder {
        var central: Central
        var connection: Central.Connection
    }

    private let holder = Mutex<Holder?>(nil)

    /// Tells whether a central has the control.
    func isHeld(by central: Central) -> Bool {
        holder.withLock { $0?.central == central && $0?.connection.isOpen == true }
    }

    /// Gives the control to a central.
    ///
    /// - Returns: Another that has lost it by that.
    func give(to central: Central, for connection: Central.Connection?) -> Central? {
        guard let connection, connection.isOpen else { return nil }
        let loser = replace(by: Holder(central: central, connection: connection))
        return loser == central ? nil : loser
    }

    /// Ends the control of a central; another keeps it that has got it meanwhile.
    func drop(by central: Central) {
        holder.withLock { if $0?.central == central { $0 = nil } }
    }

    /// Takes the control of whoever has it.
    ///
    /// - Returns: The central.
    func take() -> Central? {
        replace(by: nil)
    }

    private func replace(by new: Holder?) -> Central? {
        let old = holder.withLock { holder in
            defer { holder = new }
            return holder
        }
        return old.flatMap { $0.connection.isOpen ? $0.central : nil }
    }
}

/// The training status, shared by those who read it and those who update it.
private final class KeptStatus: Sendable {
    private let state: Mutex<TrainingStatus>

    init(_ status: TrainingStatus) {
        state = Mutex(status)
    }

    var value: TrainingStatus { state.withLock(\.self) }

    /// Tells whether the status has changed.
    func replace(by status: TrainingStatus) -> Bool {
        state.withLock { current in
            defer { current = status }
            return current != status
        }
    }
}

extension PeripheralSession {
    /// The bytes that a notification has for each subscriber; `nil` when there is none.
    func room<Value>(for characteristic: Characteristic<Value>) throws -> Int? {
        // Where the stack does not tell who has subscribed, it may be somebody with the smallest MTU, 23.
        try subscribers(of: characteristic).map { $0.central?.maximumUpdateValueLength ?? 20 }.min()
    }
}
