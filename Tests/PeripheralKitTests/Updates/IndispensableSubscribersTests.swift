import PeripheralCore
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// Updates to all that are sent for the sake of some.
@Suite(.timeLimit(.minutes(1)))
struct IndispensableSubscribersTests {
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify, .indicate], security: .encrypted) {
        Read { 1 }
    }

    @Test func nobodyIsSentWhatCannotReachThem() async throws {
        let peripheral = Peripheral("Level", pairing: .justWorks) { GATTService(.battery) { level } }
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend, logger: .silent) { session in
            let (phone, other) = (backend.makeCentral(of: peripheral), backend.makeCentral(of: peripheral))
            for central in [phone, other] {
                try await central.connect()
                try await central.pair(.justWorks)
                try await central.subscribe(to: level)
            }
            let (updates, handle) = (session.runtime.updates, AttributeHandle(3))
            let centrals = try session.subscribers(of: level).compactMap(\.central?.id)
            phone.disconnect()
            try await phone.connect(mtu: 517, encrypting: false)
            try await until { try session.subscribers(of: level).count == 2 }
            let mustReach = Set(centrals)
            await #expect(throws: PeripheralError.self) {
                try await updates.notify(handle, [1], to: .subscribers, untilLeft: true, mustReach: mustReach)
            }
            await #expect(throws: PeripheralError.self) {
                try await updates.indicate(handle, [2], to: .subscribers, mustReach: mustReach)
            }
            try await updates.notify(handle, [3], to: .subscribers, untilLeft: true, mustReach: [centrals[1]])
            #expect(try await other.nextUpdate(of: level) == 3)
            try await updates.indicate(handle, [3], to: .subscribers, mustReach: [centrals[1]])
            #expect(try await other.nextUpdate(of: level) == 3)
            try phone.encrypt()
            try await updates.notify(handle, [4], to: .subscribers, untilLeft: true, mustReach: mustReach)
            #expect(try await other.nextUpdate(of: level) == 4)
            #expect(try await phone.nextUpdate(of: level) == 4)
        }
    }

    @Test func whoHasNotSubscribedIsMissed() async throws {
        let peripheral = Peripheral("Level", pairing: .justWorks) { GATTService(.battery) { level } }
        try await peripheral.run(on: InMemoryBackend(), logger: .silent) { session in
            let error = await #expect(throws: PeripheralError.self) {
                try await session.runtime.updates.notify(
                    3,
                    [1],
                    to: .subscribers,
                    mustReach: [Central(address: .numbered(1)).id]
                )
            }
            #expect(error?.code == .notSubscribed)
        }
    }
}
