import PeripheralCore
import PeripheralKit

/// The peripheral that sends as much as possible after a central has written the start.
struct BulkPeripheral {
    let bulk: Characteristic<[UInt8]>
    let start: Characteristic<UInt8>
    /// A value that an async handler returns.
    let level: Characteristic<UInt8>
    let peripheral: Peripheral

    /// - Parameters:
    ///   - policy: What becomes of a value that finds no room.
    ///   - begin: Called when a central writes the start.
    init(updates policy: UpdatePolicy = .reject, begin: @escaping @Sendable () -> Void = {}) {
        let bulk = Characteristic<[UInt8]>("c0f000b0-7e3c-4b6e-9d29-b3f1c0a1d001", .notify, updates: policy)
        let start = Characteristic<UInt8>("c0f000b2-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
            Write { _, _ in begin() }
        }
        let level = Characteristic<UInt8>("c0f000b3-7e3c-4b6e-9d29-b3f1c0a1d001", .read) { Read { 1 } }
        (self.bulk, self.start, self.level) = (bulk, start, level)
        peripheral = Peripheral("Bulk") {
            GATTService("c0f000b1-7e3c-4b6e-9d29-b3f1c0a1d001") {
                bulk
                start
                level
            }
        }
    }
}
