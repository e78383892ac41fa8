import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    private struct Overheated: ATTErrorConvertible {
        var attError: ATTError { ATTError(rawValue: 0x81) }
    }

    private struct Mishap: Error {}

    static let errors: [(any Error, ATTError)] = [
        (ATTError(rawValue: 0x80), ATTError(rawValue: 0x80)),
        (ATTError.outOfRange, .outOfRange),
        (Overheated(), ATTError(rawValue: 0x81)),
        (GATTDecodingError(code: .tooShort, message: ""), .invalidAttributeValueLength),
        (GATTDecodingError(code: .invalidValue, message: ""), .valueNotAllowed),
        (Mishap(), .unlikelyError),
        // On the air, an error with this number would be none.
        (ATTError(rawValue: 0), .unlikelyError),
        (CancellationError(), .unlikelyError),
    ]

    @Test(arguments: errors)
    func anErrorReachesTheCentralAsItsATTError(error: any Error, expected: ATTError) async throws {
        let value = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            Read { throw error }
            Write { _ in throw error }
        }
        let peripheral = Peripheral("Errors") { GATTService(0x180F) { value } }
        try await peripheral.test(as: .specification, logger: .silent) { central in
            await #expect(throws: expected) { try await central.read(value) }
            await #expect(throws: expected) { try await central.write(value, 1) }
        }
    }

    /// The log says why, because the central receives only the ATT error.
    ///
    /// The log does not contain the bytes.
    @Test func bytesThatMeanNothingAreNotAllowed() async throws {
        let power = Characteristic<Bool>(0x2A19, .write) {
            Write { _ in Issue.record("The handler was asked.") }
        }
        let log = LogRecorder()
        let peripheral = Peripheral("Bool") { GATTService(0x180F) { power } }
        try await peripheral.test(as: .specification, logger: log.logger) { central in
            let handle = try await central.locate(power).valueHandle
            await #expect(throws: ATTError.valueNotAllowed) { try await central.write(handle, [2]) }
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(handle, [1, 2, 3])
            }
        }
        let message =
            "warning: A write was refused because its bytes are no value of the declared type. The handler was not called."
        #expect(
            log.lines == [
                "\(message) [characteristic 2a19; \(ATTError.valueNotAllowed); 1; the length is possible, but the content is "
                    + "not; Bool]",
                "\(message) [characteristic 2a19; \(ATTError.invalidAttributeValueLength); 3; 2 unread bytes follow the "
                    + "value; Bool]",
            ]
        )
    }

    static let undecodableTargets: [(String, Characteristic<UInt16>)] = [
        ("persistent value", Characteristic(0x2A19, .write) { PersistentValue(initially: 0) }),
        ("stream", Characteristic(0x2A19, .write) { WriteStream() }),
        (
            "control point",
            Characteristic(0x2A19, .write) {
                ControlPoint<UInt16, UInt16>(performWithoutResponse: { _, _, _ in })
            }
        ),
    ]

    @Test(arguments: undecodableTargets)
    func theTypeOfUndecodableBytesIsLogged(target: String, value: Characteristic<UInt16>) async throws {
        let log = LogRecorder()
        let peripheral = Peripheral("Bytes") { GATTService(0x180F) { value } }
        try await peripheral.test(as: .specification, logger: log.logger) { central in
            let handle = try await central.locate(value).valueHandle
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(handle, [1])
            }
        }
        let lines = log.lines.filter { $0.contains("no value of the declared type") }
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.contains("characteristic 2a19") && $0.hasSuffix("UInt16]") })
    }

    @Test func aHandlersValueOf513BytesIsNotSent() async throws {
        let value = Characteristic<[UInt8]>(0x2A19, .read) { Read { [UInt8](repeating: 0, count: 513) } }
        try await Peripheral("Long") { GATTService(0x180F) { value } }.test(logger: .silent) { central in
            await #expect(throws: ATTError.unlikelyError) { try await central.read(value) }
        }
    }

    @Test func eachCentralReadsOnInItsOwnValue() async throws {
        let count = Mutex<UInt8>(0)
        let value = Characteristic<[UInt8]>(0x2A19, .read) {
            Read {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return [UInt8](repeating: number, count: 60)
            }
        }
        try await Peripheral("Snapshot") { GATTService(0x180F) { value } }.test(mtu: 23) { first in
            let second = first.makeAnother()
            try await second.connect(mtu: 23)
            let handle = try await first.locate(value).valueHandle
            var firsts = try await first.read(handle, offset: 0)
            var seconds = try await second.read(handle, offset: 0)
            while firsts.count < 60 {
                firsts += try await first.read(handle, offset: firsts.count)
                seconds += try await second.read(handle, offset: seconds.count)
            }
            #expect(firsts == [UInt8](repeating: 1, count: 60))
            #expect(seconds == [UInt8](repeating: 2, count: 60))
            #expect(try await first.read(handle, offset: 0) == [UInt8](repeating: 3, count: 22))
        }
    }

    @Test func handlersKnowWhoAsks() async throws {
        let asked = Log<Central>()
        let value = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            Read { central in
                asked.append(central)
                return 1
            }
            Write { _, central in asked.append(central) }
        }
        try await Peripheral("Who") { GATTService(0x180F) { value } }.test(mtu: 100) { first in
            let second = first.makeAnother()
            try await second.connect(mtu: 50)
            _ = try await first.read(value)
            try await second.write(value, 1)
            #expect(asked.entries.map(\.address) == [first.address, second.address])
            #expect(asked.entries.map(\.mtu) == [100, 50])
            #expect(asked.entries.map(\.maximumUpdateValueLength) == [97, 47])
        }
    }

    @Test func writesOfOneCentralKeepTheirOrder() async throws {
        let written = Log<UInt8>()
        let value = Characteristic<UInt8>(0x2A19, .writeWithoutResponse) {
            Write { number in
                await Task.yield()
                written.append(number)
            }
        }
        try await Peripheral("Order") { GATTService(0x180F) { value } }.test { central in
            for number: UInt8 in 0..<100 { try await central.writeWithoutResponse(value, number) }
            #expect(written.entries == Array(0..<100))
        }
    }

    /// A central receives its answer even if the run ends while the handler works.
    @Test func requestsInProgressAreAnsweredAtTheEnd() async throws {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let value = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                enter.yield()
                for await _ in released { break }
                return 7
            }
        }
        let peripheral = Peripheral("Late") { GATTService(0x180F) { value } }
        let backend = InMemoryBackend()
        let reading = try await peripheral.run(on: backend, logger: .silent) { _ in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            let reading = Task { try await central.read(value) }
            for await _ in entered { break }
            // The handler goes on when the backend has begun to stop.
            Task {
                try await until { central.scan().isEmpty }
                release.yield()
            }
            return reading
        }
        #expect(try await reading.value == 7)
    }

    @Test func cancellingTheRunCancelsHandlers() async throws {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let value = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                enter.yield()
                for await _ in AsyncStream(Never.self, { _ in }) {}
                cancel.yield()
                return 7
            }
        }
        let peripheral = Peripheral("Cancel") { GATTService(0x180F) { value } }
        let backend = InMemoryBackend()
        let running = Task { try await peripheral.run(on: backend, logger: .silent) }
        let central = backend.makeCentral(of: peripheral)
        try await until { (try? await central.connect()) != nil }
        let reading = Task { try await central.read(value) }
        for await _ in entered { break }
        running.cancel()
        for await _ in cancelled { break }
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(try await reading.value == 7)
    }
}
