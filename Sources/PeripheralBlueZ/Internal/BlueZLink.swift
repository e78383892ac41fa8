internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The way of updates to bluetoothd.
struct BlueZLink: BackendLink {
    private let connection: BusConnection
    private let paths: [AttributeHandle: ObjectPath]
    private let requestStop: @Sendable () -> Void

    init(
        _ connection: BusConnection,
        paths: [AttributeHandle: ObjectPath],
        stop: @escaping @Sendable () -> Void
    ) {
        self.connection = connection
        self.paths = paths
        requestStop = stop
    }

    func send(_ update: Update) async throws {
        guard let path = paths[update.characteristic] else {
            throw PeripheralError(
                code: .notDeclared,
                message: "There is no characteristic with the handle \(update.characteristic)."
            )
        }
        do {
            try await connection.announce(update.value, as: path)
        } catch .cancelled {
            throw CancellationError()
        } catch .disconnected {
            throw PeripheralError(code: .stopped, message: "The peripheral is no longer published.")
        } catch {
            throw PeripheralError(code: .connectionLost, message: "The update could not be sent: \(error).")
        }
    }

    func stop() {
        requestStop()
    }
}

extension BusConnection {
    /// What the bus has not taken yet may grow to this many bytes; then updates wait.
    private static let outgoingBound = 64 * 1024

    /// Tells bluetoothd the new value of a characteristic, in one turn of the loop unless the bus is slow.
    fileprivate func announce(_ value: [UInt8], as path: ObjectPath) async throws(BusError) {
        try await waitUntilOutgoing(isAtMost: Self.outgoingBound)
        try emitPropertyChanged(path, BlueZ.characteristic, "Value", bytes: value)
    }
}
