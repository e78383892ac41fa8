internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Hands updates to bluetoothd, in their order, and reports what becomes of them.
actor UpdateTransmitter {
    /// What the bus has not taken yet may grow to this many bytes; then updates are not yet delivered.
    private static let outgoingBound = 64 * 1024

    private let connection: BusConnection
    private let paths: [AttributeHandle: ObjectPath]
    private let report: @Sendable (BackendEvent) -> Void
    /// The updates that await confirmation, by their characteristics.
    private var unconfirmed: [AttributeHandle: [Update.ID]] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    init(
        _ connection: BusConnection,
        paths: [AttributeHandle: ObjectPath],
        report: @escaping @Sendable (BackendEvent) -> Void
    ) {
        self.connection = connection
        self.paths = paths
        self.report = report
    }

    nonisolated func submit(_ update: Update) {
        connection.loop.execute { self.assumeIsolated { $0.transmit(update) } }
    }

    private func transmit(_ update: Update) {
        do {
            guard let path = paths[update.characteristic] else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no characteristic with the handle \(update.characteristic)."
                )
            }
            guard case .subscribers = update.recipients else {
                throw PeripheralError(
                    code: .subscribersUnknown,
                    message: "This version of BlueZ cannot send to a single central."
                )
            }
            try announce(update.value, as: path)
        } catch {
            return report(.updateEnded(update.id, .failed(PeripheralError(sending: error))))
        }
        if update.awaitsConfirmation {
            unconfirmed[update.characteristic, default: []].append(update.id)
        } else {
            reportDelivery(of: update)
        }
    }

    private func announce(_ value: [UInt8], as path: ObjectPath) throws {
        try connection.assumeIsolated { connection in
            try connection.emitPropertyChanged(path, BlueZ.characteristic, "Value", bytes: value)
        }
    }

    /// A delivery counts when the bus keeps up; a bus that does not holds up the updates after this one.
    private func reportDelivery(of update: Update) {
        let isSlow = connection.assumeIsolated { $0.outgoingSize > Self.outgoingBound }
        guard isSlow else { return report(.updateEnded(update.id, .delivered)) }
        Task {
            do {
                try await connection.waitUntilOutgoing(isAtMost: Self.outgoingBound)
                report(.updateEnded(update.id, .delivered))
            } catch {
                report(.updateEnded(update.id, .failed(PeripheralError(sending: error))))
            }
        }
    }

    /// Takes note that some central has confirmed an indication of this characteristic.
    func confirmed(_ characteristic: AttributeHandle) {
        guard var waiting = unconfirmed.removeValue(forKey: characteristic), !waiting.isEmpty else { return }
        report(.updateEnded(waiting.removeFirst(), .delivered))
        if !waiting.isEmpty { unconfirmed[characteristic] = waiting }
    }
}

extension PeripheralError {
    /// Why an update could not be sent.
    fileprivate init(sending error: any Error) {
        switch error {
        case let error as PeripheralError:
            self = error
        case BusError.disconnected:
            self.init(code: .stopped, message: "The peripheral is no longer published.")
        default:
            self.init(
                code: .connectionLost,
                message: "The update could not be sent: \(error).",
                cause: error
            )
        }
    }
}
