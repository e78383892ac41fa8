import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConnectionTests {
    /// What holds as long as a connection, such as a consent, must not hold in the next run.
    @Test func aConnectionIsNotOpenWhenTheRunHasEnded() async throws {
        let value = Characteristic<UInt8>(0x2A18, value: 1)
        let peripheral = Peripheral("P") { GATTService(0x1808) { value } }
        let backend = InMemoryBackend()
        let central = backend.makeCentral(of: peripheral)
        let connection = try await peripheral.run(on: backend) { session in
            try await central.connect()
            let seen = try #require(session.centrals.first)
            let connection = try #require(session.connection(of: seen))
            #expect(connection.isOpen)
            return connection
        }
        #expect(!connection.isOpen)
    }
}
