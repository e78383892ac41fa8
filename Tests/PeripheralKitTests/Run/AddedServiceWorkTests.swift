import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// How the work of an added service ends, and what else ends with it.
@Suite(.timeLimit(.minutes(1)))
struct AddedServiceWorkTests {
    private struct Mishap: Error, Equatable {}

    /// A service whose work a test determines.
    private struct Sensor: GATTServiceDeclaration {
        let value = Characteristic<UInt8>(0x2A6E, [.read, .notify]) { Read { 7 } }
        let log = Log<String>()
        let work: @Sendable (Log<String>) async throws -> Void

        var service: GATTService { GATTService(0x181A) { value } }

        func run(in session: PeripheralSession) async throws {
            log.append("begins")
            try await work(log)
        }
    }

    private let base = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }

    private var gateway: Peripheral {
        Peripheral("Gateway") { GATTService(0x180F) { base } }
    }

    private static func untilCancelled() async {
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }

    @Test func anErrorEndsTheSession() async throws {
        let sensor = Sensor { _ in throw Mishap() }
        let log = Log<String>()
        await #expect(throws: Mishap.self) {
            try await gateway.test { _, session in
                try await session.add { sensor }
                await Self.untilCancelled()
                log.append("cancelled")
                throw CancellationError()
            }
        }
        #expect(log.entries == ["cancelled"])
        // The next run has only what is declared.
        try await gateway.test { central, session in
            let found = try await central.discover().applicationServices
            #expect(found.map(\.uuid) == [0x180F])
            #expect(session.services.map(\.uuid) == [0x180F])
        }
    }

    @Test func anErrorEndsTheOtherWork() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let other = Sensor { log in
            await Self.untilCancelled()
            log.append("ends")
        }
        let failing = Sensor { _ in
            for await _ in gate { break }
            throw Mishap()
        }
        await #expect(throws: Mishap.self) {
            try await gateway.test { _, session in
                try await session.add {
                    other
                    failing
                }
                try await until { other.log.entries == ["begins"] }
                open.finish()
                await Self.untilCancelled()
            }
        }
        #expect(other.log.entries == ["begins", "ends"])
    }

    @Test(
        arguments: [
            nil, CancellationError(), PeripheralError(code: .stopped, message: "The session is over."),
        ] as [(any Error)?]
    )
    func theEndOfTheWorkIsNotTheEndOfTheService(error: (any Error)?) async throws {
        let sensor = Sensor { log in
            log.append("ends")
            if let error { throw error }
        }
        try await gateway.test { central, session in
            for count in 1...2 {
                try await session.add { sensor }
                try await until { sensor.log.entries.count == 2 * count }
                #expect(try await central.read(sensor.value) == 7)
                try await central.subscribe(to: sensor.value)
                try await session.notify(sensor.value, 9)
                #expect(try await central.nextUpdate(of: sensor.value) == 9)
                #expect(session.services.map(\.uuid) == [0x180F, 0x181A])
                try await session.remove(sensor)
                #expect(session.services.map(\.uuid) == [0x180F])
            }
        }
        #expect(sensor.log.entries == ["begins", "ends", "begins", "ends"])
    }

    /// The work fails because its service is removed.
    @Test func anErrorDuringTheRemovalEndsNothing() async throws {
        let sensor = Sensor { _ in
            await Self.untilCancelled()
            throw Mishap()
        }
        try await gateway.test { central, session in
            for count in 1...2 {
                try await session.add { sensor }
                try await until { sensor.log.entries.count == count }
                try await session.remove(sensor)
            }
            #expect(session.services.map(\.uuid) == [0x180F])
            #expect(try await central.read(base) == 1)
        }
    }
}
