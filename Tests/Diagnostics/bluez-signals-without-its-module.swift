// import PeripheralBlueZ, which declares it
import Glibc
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    try await peripheral.run(on: .bluez, stoppingOn: [SIGTERM, SIGINT]) { session in
        for await _ in session.events {}
    }
}
