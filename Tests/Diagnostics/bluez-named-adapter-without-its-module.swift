// import PeripheralBlueZ, which declares it
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    try await peripheral.run(on: .bluez(adapter: .named("hci1"), recovery: .never))
}
