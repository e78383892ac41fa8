import PeripheralKit
import PeripheralTesting
import Testing

/// Prepared writes, which applications can be asked about.
@Suite(.timeLimit(.minutes(1)))
struct AuthorizationTests {
    @Test func preparedWritesAreAuthorized() async throws {
        let fixture = try ServerFixture(.write, authorizing: [0x0003])
        let connection = try fixture.connect()
        let server = fixture.server
        for _ in 0..<2 {
            let prepared = try await server.prepareWrite(0x0017, [1], offset: 0, on: connection)
            #expect(prepared == .success)
        }
        // Once for all that is prepared, until it is executed.
        #expect(fixture.provider.takeLog() == ["authorize 0x0003 at 0"])
        _ = try await server.executeWrites(commit: false, on: connection)
        let prepared = try await server.prepareWrite(0x0017, [1], offset: 0, on: connection)
        #expect(prepared == .success)
        #expect(fixture.provider.takeLog() == [])
        #expect(try await server.executeWrites(commit: true, on: connection) == .success)
        _ = try await server.prepareWrite(0x0017, [2], offset: 0, on: connection)
        #expect(fixture.provider.takeLog() == ["write 0x0003 at 0: [1]", "authorize 0x0003 at 0"])
        // Requests that are not prepared are not asked about.
        _ = try await server.write(0x0017, [3], on: connection)
        #expect(fixture.provider.takeLog() == ["write 0x0003 at 0: [3]"])
    }

    @Test func refusedPartsAreNotKept() async throws {
        let provider = RecordingProvider(refusal: .insufficientAuthorization)
        let fixture = try ServerFixture(.write, provider: provider, authorizing: [0x0003])
        let connection = try fixture.connect()
        let server = fixture.server
        let prepared = try await server.prepareWrite(0x0017, [1], offset: 0, on: connection)
        #expect(prepared.refusal == .insufficientAuthorization)
        #expect(try await server.executeWrites(commit: true, on: connection) == .success)
        #expect(provider.takeLog() == ["authorize 0x0003 at 0"])
    }

    @Test func trustedCentralsAreNotAskedAbout() async throws {
        let fixture = try ServerFixture(.write, authorizing: [0x0003])
        let central = fixture.makeCentral()
        try await central.connect()
        fixture.server.setTrusted(central.address, true)
        try await central.prepareWrite(0x0017, [1], offset: 0)
        #expect(fixture.provider.takeLog() == [])
    }
}
