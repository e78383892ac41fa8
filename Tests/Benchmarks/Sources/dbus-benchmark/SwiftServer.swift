import PeripheralBlueZ
import PeripheralKit

/// The values that are read, in the order of ``Subject/all``.
func serveInSwift() async throws {
    let (small, large) = ([UInt8](repeating: 0, count: 20), [UInt8](repeating: 0, count: 512))
    let peripheral = Peripheral("Benchmark") {
        GATTService("5C3A0001-7E3C-4B6E-9D29-B3F1C0A1D001") {
            Characteristic<[UInt8]>("5C3A0002-7E3C-4B6E-9D29-B3F1C0A1D001", value: small)
            Characteristic<[UInt8]>("5C3A0003-7E3C-4B6E-9D29-B3F1C0A1D001", value: large)
            Characteristic<[UInt8]>("5C3A0004-7E3C-4B6E-9D29-B3F1C0A1D001", .read) { Read { small } }
            Characteristic<[UInt8]>("5C3A0005-7E3C-4B6E-9D29-B3F1C0A1D001", .read) { Read { large } }
        }
    }
    try await peripheral.run(on: .bluez) { _ in
        // Until this process is killed.
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }
}
