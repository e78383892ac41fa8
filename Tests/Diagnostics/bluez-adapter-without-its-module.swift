// import PeripheralBlueZ, which declares it
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    try await peripheral.run(on: .bluez(adapter: "hci1", version: "5.82"))
}
