// cannot find 'SIGTERM' in scope
import PeripheralBlueZ

func run(_ peripheral: Peripheral) async throws {
    try await peripheral.run(on: .bluez, stoppingOn: [SIGTERM])
}
