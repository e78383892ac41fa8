internal import Logging
internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Creates replies that refuse requests, and logs errors that reach centrals as different errors.
final class RequestRefusals: Sendable {
    private let table: AttributeTable
    private let log: RunLog
    private let version: BlueZVersion

    init(of table: AttributeTable, version: BlueZVersion, log: RunLog) {
        (self.table, self.version, self.log) = (table, version, log)
    }

    /// Returns the reply that makes bluetoothd refuse the central's request.
    func answer(
        to operation: RequestRefusal.Operation,
        of attribute: AttributeHandle,
        with error: ATTError
    ) -> MethodError {
        let refusal = RequestRefusal(error, operation: operation, version: version)
        if refusal.received != error {
            // The error is logged once, because a central can send any number of requests.
            log.report(
                .changedError(error),
                .warning,
                """
                BlueZ cannot send this ATT error. The central receives a different error. The errors from 0x80 to \
                0x9F arrive unchanged, such as .application(.x80). Each error is logged once.
                """,
                metadata: [
                    "peripheral.attribute": "\(table.name(of: attribute))",
                    "peripheral.error": .bounded("\(error)"),
                    "peripheral.received": "\(refusal.received)",
                ]
            )
        }
        return MethodError(ErrorName(unchecked: refusal.name), refusal.message)
    }
}
