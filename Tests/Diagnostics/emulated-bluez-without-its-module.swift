// cannot find 'withEmulatedBlueZ' in scope
import PeripheralBlueZ

func run(_ peripheral: Peripheral) async throws {
    try await withEmulatedBlueZ { bluez in try await peripheral.run(on: bluez.backend) }
}
