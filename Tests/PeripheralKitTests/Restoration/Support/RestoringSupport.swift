import PeripheralTesting
import Testing

@testable import PeripheralKit

extension InMemoryRestorationStore {
    /// What is preserved of a peripheral that has run.
    func preserved(
        of peripheral: Peripheral,
        on backend: InMemoryBackend = InMemoryBackend()
    ) async throws -> PreservedPeripheral {
        try await peripheral.run(on: backend, restoringFrom: self, logger: .silent) { _ in }
        return try await preserved(as: try #require(peripheral.restorationIdentifier))
    }

    /// What is preserved under an identifier, which has to be something.
    func preserved(as identifier: String) async throws -> PreservedPeripheral {
        try #require(try await PreservedPeripheral(identifier, in: self))
    }
}

extension PreservedPeripheral {
    /// The peripheral once more, with handlers for these.
    func again(@ServiceBuilder handling characteristics: () -> [ServiceElement] = { [] }) -> Peripheral {
        Peripheral(restoring: self, pairing: .justWorks, handling: characteristics)
    }
}

extension Peripheral {
    /// What keeps it from running.
    var erroneousElements: [String] {
        validate().filter { $0.severity == .error }.map(\.element)
    }
}
