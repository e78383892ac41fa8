import PeripheralBlueZ
import PeripheralKit

/// Serves the values that the benchmark requests, in the order of `Value` there, and notifications.
///
/// From BlueZ 5.76 on, each subscriber has a socket. Before, values go over the bus.
func serveRequests(version: BlueZVersion) async throws {
    let (small, large) = ([UInt8](repeating: 0, count: 20), [UInt8](repeating: 0, count: 512))
    let updates = Characteristic<[UInt8]>("5C3A0008-7E3C-4B6E-9D29-B3F1C0A1D001", .notify)
    let (counts, count) = AsyncStream.makeStream(of: UInt32.self)
    let peripheral = Peripheral("Benchmark") {
        GATTService("5C3A0001-7E3C-4B6E-9D29-B3F1C0A1D001") {
            Characteristic<[UInt8]>("5C3A0002-7E3C-4B6E-9D29-B3F1C0A1D001", value: small)
            Characteristic<[UInt8]>("5C3A0003-7E3C-4B6E-9D29-B3F1C0A1D001", value: large)
            Characteristic<[UInt8]>("5C3A0004-7E3C-4B6E-9D29-B3F1C0A1D001", .read) { Read { small } }
            Characteristic<[UInt8]>("5C3A0005-7E3C-4B6E-9D29-B3F1C0A1D001", .read) { Read { large } }
            Characteristic<[UInt8]>(
                "5C3A0006-7E3C-4B6E-9D29-B3F1C0A1D001",
                [.read, .write, .writeWithoutResponse, .notify]
            ) {
                Read { small }
                Write { _, _ in }
            }
            Characteristic<[UInt8]>("5C3A0007-7E3C-4B6E-9D29-B3F1C0A1D001", .write) { Write { _, _ in } }
            updates
            Characteristic<UInt32>("5C3A0009-7E3C-4B6E-9D29-B3F1C0A1D001", .write) {
                Write { number, _ in count.yield(number) }
            }
        }
    }
    // Until this process is killed.
    try await peripheral.run(on: .bluez(version: version, fallbackRate: .unlimited)) { session in
        for await count in counts {
            for _ in 0..<count {
                while try !session.update(updates, small) { try await session.readyToUpdate(updates) }
            }
        }
    }
}
