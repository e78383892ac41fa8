internal import PeripheralKit
private import Synchronization

/// What is the same for all kinds of machines: their status, and who controls them.
final class ControlledMachine: Sendable {
    let trainingStatus: Characteristic<TrainingStatus>?
    let status: Characteristic<FitnessMachineStatus>?

    private let keptStatus: KeptStatus
    /// Which central has the control: during one of its connections, and no longer.
    private let holder = Mutex<Central.Connection?>(nil)

    init(trainingStatus: TrainingStatus?, hasControl: Bool, security: AttributeSecurity) {
        let kept = KeptStatus(trainingStatus ?? .idle)
        keptStatus = kept
        self.trainingStatus = trainingStatus.map { _ in
            Characteristic(.trainingStatus, [.read, .notify], security: security) {
                Read { central in kept.value.told(upTo: central.maximumUpdateValueLength) }
            }
        }
        status = hasControl ? Characteristic(.fitnessMachineStatus, .notify, security: security) : nil
    }

    func controlPoint(_ control: FitnessMachineControl) -> Characteristic<FitnessMachineResponse> {
        Characteristic(.fitnessMachineControlPoint, [.write, .indicate], security: control.security) {
            ControlPoint(perform: { (request: FitnessMachineRequest, central, session) in
                try await self.respond(to: request, of: central, by: control, in: session)
            })
        }
    }

    @inline(never)
    func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        guard let trainingStatus, keptStatus.replace(by: status),
            let room = try session.subscribers(of: trainingStatus).room
        else { return }
        try await session.notify(trainingStatus, status.told(upTo: room))
    }

    @inline(never)
    func tell(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        guard let characteristic = self.status, status.opCode != 0x00 else { return }
        try await session.notify(characteristic, status)
    }

    @inline(never)
    func takeControl(in session: PeripheralSession) async throws {
        try await giveControl(to: nil, in: session)
    }

    private func respond(
        to request: FitnessMachineRequest,
        of central: Central,
        by control: FitnessMachineControl,
        in session: PeripheralSession
    ) async throws -> FitnessMachineResponse {
        // By the time that the request is carried out, the central may have left and be back.
        let connection = session.connection(of: central)
        let hasControl = connection != nil && holder.withLock(\.self) == connection
        if let refusal = control.refusal(of: request, hasControl: hasControl) {
            return FitnessMachineResponse(refusal, to: request)
        }
        do {
            try await control.carryOut(request, central)
        } catch {
            // Nobody waits for a response any more.
            try Task.checkCancellation()
            return FitnessMachineResponse(error as? FitnessMachineResult ?? .operationFailed, to: request)
        }
        // The others are told also when the central has left meanwhile, which cancels this task.
        let (opCode, status) = (request.opCode, FitnessMachineStatus.changed(request))
        try await Task { try await finish(opCode, status, of: connection, in: session) }.value
        let spinDown = request.opCode == 0x13 ? control.spinDown : nil
        return FitnessMachineResponse(.success, to: request.opCode, spinDown: spinDown)
    }

    /// Does what follows a request that has been carried out.
    private func finish(
        _ opCode: UInt8,
        _ status: FitnessMachineStatus,
        of connection: Central.Connection?,
        in session: PeripheralSession
    ) async throws {
        if opCode == 0x00, connection?.isOpen == true {
            try await giveControl(to: connection, in: session)
        }
        if opCode == 0x01 {
            // Another keeps it that has got it meanwhile.
            holder.withLock { if $0 == connection { $0 = nil } }
            try await update(to: .idle, in: session)
        }
        try await tell(status, in: session)
    }

    /// Gives the control to a central, or takes it, and tells the one that has lost it.
    private func giveControl(
        to connection: Central.Connection?,
        in session: PeripheralSession
    ) async throws {
        let former = holder.withLock { holder in
            defer { holder = connection }
            return holder
        }
        guard let status, let former, former != connection, former.isOpen,
            let central = session.centrals.first(where: { session.connection(of: $0) == former })
        else { return }
        do {
            try await session.notify(status, .controlPermissionLost, to: central)
        } catch let error as PeripheralError {
            // It is gone, or does not want to know; or it can be reached only together with the others: who gets the control by
            // this is told so after it.
            guard error.code == .notAddressable else { return }
            try await session.notify(status, .controlPermissionLost)
        }
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

extension [Subscription] {
    /// The bytes that a notification has for each of them; `nil` when there are none.
    var room: Int? {
        // Where the stack does not tell who has subscribed, it may be somebody with the smallest MTU, 23.
        map { $0.central?.maximumUpdateValueLength ?? 20 }.min()
    }
}
