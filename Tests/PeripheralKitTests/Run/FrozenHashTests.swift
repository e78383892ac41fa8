import Logging
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// The warning about handles that freeze the Database Hash.
@Suite(.timeLimit(.minutes(1)))
struct FrozenHashTests {
    /// Returns the warnings of a run in which the stack assigns a handle, twice.
    private func warnings(
        about peripheral: Peripheral,
        assigning onAir: AttributeHandle,
        in store: InMemoryRestorationStore? = nil
    ) async throws -> [String] {
        let log = LogRecorder(from: .warning)
        let backend = ScriptedBackend { publication, host in
            let link = RecordingLink()
            for attribute in publication.table.attributes.prefix(2) {
                host.handle(.handleAssigned(attribute.handle, onAir: onAir))
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(
            on: backend,
            restoringFrom: store,
            logger: log.logger,
            clock: ManualClock()
        ) { _ in
        }
        return log.lines
    }

    private static func lamp(_ identifier: String? = nil, at handle: AttributeHandle? = nil) -> Peripheral {
        Peripheral("Lamp", restorationIdentifier: identifier) {
            GATTService(0x180F, handle: handle) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
    }

    @Test func highHandlesOfTheStackAreReportedOnce() async throws {
        let lines = try await warnings(about: Self.lamp(), assigning: 0x0400)
        #expect(lines.count == 1)
        #expect(lines.first?.contains("declare a restoration identifier") == true)
        #expect(try await warnings(about: Self.lamp(), assigning: 0x03FF) == [])
    }

    /// BlueZ has other rules for pinned services, and the framework chooses handles with an identifier.
    @Test func handlesThatWereChosenAreNot() async throws {
        #expect(try await warnings(about: Self.lamp(at: 0x0500), assigning: 0x0500) == [])
        let store = InMemoryRestorationStore()
        #expect(try await warnings(about: Self.lamp("lamp"), assigning: 0x0500, in: store) == [])
    }
}
