internal import Logging
internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// Makes the answers that refuse requests, and tells the log which errors centrals do not see as they are.
final class RequestRefusals: Sendable {
    private let table: AttributeTable
    private let log: RunLog
    private let version = Mutex(BlueZVersion.v5_66)

    init(of table: AttributeTable, log: RunLog) {
        self.table = table
        self.log = log
    }

    /// Takes note of the version of the running bluetoothd; until then, it is taken for the oldest.
    func setVersion(_ version: BlueZVersion) {
        self.version.withLock { $0 = version }
    }

    /// The answer by which bluetoothd is told to refuse the central's request.
    func answer(
        to operation: RequestRefusal.Operation,
        of attribute: AttributeHandle,
        with error: ATTError
    ) -> MethodError {
        let refusal = RequestRefusal(error, operation: operation, version: version.withLock(\.self))
        if refusal.received != error {
            // Once, since a central can ask as often as it likes.
            log.tell(
                .changedError(error),
                .warning,
                "BlueZ cannot carry this error, and centrals see another. It is told once for each error.",
                metadata: [
                    "peripheral.attribute": "\(name(of: attribute))",
                    "peripheral.error": .bounded("\(error)"),
                    "peripheral.received": "\(refusal.received)",
                ]
            )
        }
        return MethodError(ErrorName(unchecked: refusal.name), refusal.message)
    }

    private func name(of handle: AttributeHandle) -> String {
        guard let attribute = table.index(of: handle).map({ table.attributes[$0] }),
            let characteristic = table.characteristic(of: attribute.kind)
        else { return "\(handle)" }
        guard case .descriptor = attribute.kind else { return "characteristic \(characteristic.uuid)" }
        return "descriptor \(attribute.type) of characteristic \(characteristic.uuid)"
    }
}
