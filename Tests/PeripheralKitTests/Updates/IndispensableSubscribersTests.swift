import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Updates to all that are sent for the sake of some.
@Suite(.timeLimit(.minutes(1)))
struct IndispensableSubscribersTests {
    private let audit = Characteristic<[UInt8]>(
        "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
        .notify,
        security: .encrypted,
        updates: .durable
    )

    /// An empty value reaches subscribers only together.
    @Test func nobodyIsSentWhatCannotReachThem() async throws {
        let peripheral = Peripheral("Audit", restorationIdentifier: "com.example.audit", pairing: .justWorks)
        {
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { audit }
        }
        let backend = InMemoryBackend(as: .specification)
        let store = InMemoryRestorationStore()
        try await peripheral.run(on: backend, restoringFrom: store, logger: .silent) { session in
            let (phone, other) = (backend.makeCentral(of: peripheral), backend.makeCentral(of: peripheral))
            for central in [phone, other] {
                try await central.connect()
                try await central.pair(.justWorks)
                try await central.subscribe(to: audit)
            }
            try await until { try session.subscribers(of: audit).count == 2 }
            let reached = try #require(try session.subscribers(of: audit).last?.central)
            phone.disconnect()
            try await phone.connect(mtu: 517, encrypting: false)
            try await until { try session.subscribers(of: audit).count == 2 }
            #expect(try session.update(audit, []))
            // The empty value was tried and refused.
            try await until { session.updateTotals.contains { $0.counters.dropped > 0 } }
            try await session.notify(audit, [1], to: reached)
            #expect(try await other.nextUpdate(of: audit) == [1])
            try phone.encrypt()
            // The value is sent again after a delay, which a busy machine extends.
            try await until { session.updateTotals.contains { $0.counters.sent == 2 } }
            for central in [phone, other] { #expect(try await central.nextUpdate(of: audit) == []) }
        }
    }
}
