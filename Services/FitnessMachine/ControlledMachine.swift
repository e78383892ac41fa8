internal import PeripheralKit
private import Synchronization

/// The status and the control, which are the same for all kinds of machines.
final class ControlledMachine: Sendable {
    let trainingStatus: Characteristic<TrainingStatus>?
    let status: Characteristic<FitnessMachineStatus>?

    private let keptStatus: KeptStatus
    /// The connection of the central that controls the machine.
    ///
    /// Control ends with the connection.
    private let holder = Mutex<Central.Connection?>(nil)

    init(trainingStatus: TrainingStatus?, hasControl: Bool, security: AttributeSecurity) {
        let kept = KeptStatus(trainingStatus ?? .idle)
        keptStatus = kept
        self.trainingStatus = trainingStatus.map { _ in
            Characteristic(.trainingStatus, [.read, .notify], security: security) {
                Read { central in kept.value.truncated(to: central.maximumUpdateValueLength) }
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
        try await session.notify(trainingStatus, status.truncated(to: room))
    }

    @inline(never)
    func report(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
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
        // The central may have disconnected, and connected again, before the request is carried out.
        let connection = session.connection(of: central)
        let hasControl = connection != nil && holder.withLock(\.self) == connection
        if let refusal = control.refusal(of: request, hasControl: hasControl) {
            return FitnessMachineResponse(refusal, to: request)
        }
        do {
            try await control.carryOut(request, central)
        } catch {
            // Nothing waits for a response any more.
            try Task.checkCancellation()
            return FitnessMachineResponse(error as? FitnessMachineResult ?? .operationFailed, to: request)
        }
        // The task is cancelled if the central disconnects. The other centrals must be notified even then.
        let (opCode, status) = (request.opCode, FitnessMachineStatus.changed(request))
        try await Task { try await finish(opCode, status, of: connection, in: session) }.value
        let spinDown = request.opCode == 0x13 ? control.spinDown : nil
        return FitnessMachineResponse(.success, to: request.opCode, spinDown: spinDown)
    }

    /// Resets or transfers control after a request was carried out, and sends the status.
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
            // If another central has taken control meanwhile, it keeps control.
            holder.withLock { if $0 == connection { $0 = nil } }
            try await update(to: .idle, in: session)
        }
        try await report(status, in: session)
    }

    /// Transfers or ends control, and notifies the central that has lost control.
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
            // The central cannot receive the status, or can be reached only together with other centrals. In
            // the latter case, all centrals are notified. The central that receives control receives its
            // response afterwards.
            guard error.code == .notAddressable else { return }
            try await session.notify(status, .controlPermissionLost)
        }
    }
}

/// The training status, shared by its reads and updates.
private final class KeptStatus: Sendable {
    private let state: Mutex<TrainingStatus>

    init(_ status: TrainingStatus) {
        state = Mutex(status)
    }

    var value: TrainingStatus { state.withLock(\.self) }

    /// Replaces the status, and returns whether it has changed.
    func replace(by status: TrainingStatus) -> Bool {
        state.withLock { current in
            defer { current = status }
            return current != status
        }
    }
}

extension [Subscription] {
    /// The maximum length of a notification to all of the subscribers; `nil` when there are none.
    var room: Int? {
        // If the stack does not identify a subscriber, it may have the smallest MTU, 23.
        map { $0.central?.maximumUpdateValueLength ?? 20 }.min()
    }
}
