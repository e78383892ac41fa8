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

    @Test(arguments: [-1, 22, 518, 1000])
    func anImpossibleMTUIsRefused(mtu: Int) async throws {
        let error = await #expect(throws: TestCentralError.self) {
            try await peripheral.test(mtu: mtu) { _ in Issue.record("The body has begun.") }
        }
        #expect(error?.code == .invalidArgument)
        #expect(
            error?.message == "No connection has an MTU of \(mtu) bytes. Use an MTU from 23 to 517 bytes."
        )
        try await peripheral.test { central in
            let other = central.makeAnother()
            let error = await #expect(throws: TestCentralError.self) { try await other.connect(mtu: mtu) }
            #expect(error?.code == .invalidArgument)
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

    /// As the article about testing shows it.
    @Test func aDocumentArrivesWhole() async throws {
        let history = Characteristic<[UInt8]>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", .notify)
        let recorder = Peripheral("Recorder") {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { history }
        }
        let document = [UInt8](repeating: 7, count: 1000)
        try await recorder.test { central, session in
            try await central.subscribe(to: history)
            try await session.send(document, over: history)
            var received: [UInt8] = []
            for try await chunk in central.updates(of: history) {
                if chunk == Array("EOM".utf8) { break }
                received += chunk
            }
            #expect(received == document)
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
