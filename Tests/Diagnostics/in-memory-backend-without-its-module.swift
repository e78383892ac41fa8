// cannot find 'InMemoryBackend' in scope
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    try await peripheral.run(on: InMemoryBackend())
}
