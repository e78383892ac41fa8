import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PeripheralTestTests {
    private struct Mishap: Error {}

    private let level = Characteristic<UInt8>(0x2A19, .notify)

    private var peripheral: Peripheral {
        Peripheral("Test") { GATTService(0x180F) { level } }
    }

    @Test func theOutputIsReturned() async throws {
        let name = try await peripheral.test { central in
            central.scan().first?.payload.localName
        }
        #expect(name == "Test")
    }

    @Test func theBodysErrorIsThrown() async {
        await #expect(throws: Mishap.self) {
            try await peripheral.test { _ in throw Mishap() }
        }
    }

    @Test func anInvalidDeclarationIsThrown() async {
        await #expect(throws: DeclarationError.self) {
            try await Peripheral("Empty") {}.test { _ in Issue.record("The body has begun.") }
        }
    }

    @Test func aTestMayExpectAndNothingElse() async throws {
        try await peripheral.test { central async throws in
            #expect(try await central.discover().applicationServices.map(\.uuid) == [0x180F])
        }
    }

    @Test func theSessionIsAtHand() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: level)
            try await session.notify(level, 42)
            #expect(try await central.nextUpdate(of: level) == 42)
        }
    }

    @Test func twoPeripheralsShareAnAir() async throws {
        let other = Characteristic<UInt8>(0x2A19, value: 2)
        let mouse = Peripheral("Mouse") { GATTService(0x1812) { other } }
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend) { _ in
            try await mouse.run(on: backend) { _ in
                let central = backend.makeCentral(of: mouse)
                #expect(central.scan().map(\.payload.localName) == ["Test", "Mouse"])
                try await central.connect()
                #expect(try await central.read(other) == 2)
            }
        }
    }
}
