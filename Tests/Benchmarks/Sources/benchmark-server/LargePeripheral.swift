import PeripheralBlueZ
import PeripheralKit

/// Serves one service, whose characteristics have asynchronous handlers.
func serve(characteristics count: Int) async throws {
    let value = [UInt8](repeating: 0, count: 20)
    let characteristics = (0..<count).map { number in
        Characteristic<[UInt8]>(uuid(number), [.read, .write]) {
            Read { value }
            Write { _, _ in }
        }
    }
    let peripheral = Peripheral("Benchmark") {
        GATTService("5C3A0001-7E3C-4B6E-9D29-B3F1C0A1D001") {
            for characteristic in characteristics { characteristic }
        }
    }
    // Until this process is killed.
    try await peripheral.run(on: .bluez(version: "5.82", fallbackRate: .unlimited))
}

private func uuid(_ number: Int) -> BluetoothUUID {
    let digits = String(number, radix: 16)
    let padding = String(repeating: "0", count: 4 - digits.count)
    return BluetoothUUID("5C3B\(padding)\(digits)-7E3C-4B6E-9D29-B3F1C0A1D001") ?? 0x2A6E
}
