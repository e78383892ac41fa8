import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// The log says how much of the preserved state is missing.
@Suite(.timeLimit(.minutes(1)))
struct RestorationLogTests {
    private static let identifier = "com.example.log"

    private let store = InMemoryRestorationStore()
    private let log = LogRecorder()

    /// Runs a peripheral with a persistent value, and returns the warnings of the run.
    private func run<Value: GATTValue>(initially value: Value) async throws -> [String] {
        let level = Characteristic<Value>(0x2A6E, [.read, .write]) { PersistentValue(initially: value) }
        let peripheral = Peripheral("P", restorationIdentifier: Self.identifier) {
            GATTService(0x181A) { level }
        }
        try await peripheral.run(on: InMemoryBackend(), restoringFrom: store, logger: log.logger) { session in
            try await session.set(level, to: value)
        }
        return log.lines.filter { $0.hasPrefix("warning: ") }
    }

    @Test func aStateThatIsSetAsideIsMissingAsAWhole() async throws {
        #expect(try await run(initially: 1 as UInt8) == [])
        store.loadError = RestorationError(code: .damaged, message: "The state is damaged.")
        let warnings = try await run(initially: 1 as UInt8)
        #expect(
            warnings.first?.hasPrefix(
                "warning: The preserved state cannot be restored. The peripheral starts without it."
            ) == true
        )
    }

    @Test func aValueOfAnotherLengthIsMissingAlone() async throws {
        #expect(try await run(initially: 1 as UInt8) == [])
        let warnings = try await run(initially: 1 as UInt16)
        #expect(
            warnings.first?.hasPrefix(
                "warning: A preserved value cannot be restored. The characteristic has its initial value."
            ) == true
        )
    }
}
