import Logging
import PeripheralCore
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// The log of what happens in a run, at each level.
@Suite(.timeLimit(.minutes(1)))
struct ActivityLogTests {
    private let uuid = BluetoothUUID("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001")

    /// The life of a peripheral and its central: all lines, and nothing else.
    @Test(arguments: [Logger.Level.notice, .info, .debug, .trace])
    func shortLife(level: Logger.Level) async throws {
        let log = LogRecorder(from: level)
        let brightness = Characteristic<UInt8>(uuid, [.read, .write, .notify]) {
            Read { 201 }
            Write { value in guard value == 202 else { throw ATTError.valueNotAllowed } }
            UserDescription("Brightness")
        }
        let lamp = Peripheral("Lamp", pairing: .justWorks) { GATTService(0x180F) { brightness } }
        let backend = InMemoryBackend(as: .specification)
        let address = try await lamp.run(on: backend, logger: log.logger) { session in
            let central = backend.makeCentral(of: lamp)
            try await central.connect(mtu: 185)
            try await central.pair(.justWorks)
            try await central.subscribe(to: brightness)
            #expect(try await central.read(brightness) == 201)
            try await central.write(brightness, 202)
            await #expect(throws: ATTError.valueNotAllowed) { try await central.write(brightness, 203) }
            try await session.notify(brightness, 204)
            #expect(try await central.nextUpdate(of: brightness) == 204)
            let address = try #require(session.centrals.first).address
            central.disconnect()
            try await until { session.centrals.isEmpty }
            return address
        }
        let name = "characteristic \(uuid) \"Brightness\""
        let lines = [
            "debug: The backend has published the peripheral. [observed]",
            "info: The peripheral is on the air. [Lamp]",
            "debug: A central has connected. [false; \(address); 185]",
            "debug: A pairing question has ended. [\(address); authorize; accepted]",
            "debug: A connected central has changed. [true; \(address); 185]",
            "debug: A central has bonded. [true; \(address); 185]",
            "debug: A central has subscribed. [\(name); \(address); notification]",
            "trace: A request was handled. [\(name); \(address); 1; read; success]",
            "trace: A request was handled. [\(name); \(address); 1; write; success]",
            "trace: A request was handled. [\(name); \(address); 1; write; value not allowed (0x13)]",
            "trace: An update was submitted. [\(name); 1; \(address)]",
            "debug: A subscription has ended. [\(name); \(address); notification]",
            "debug: A central has disconnected. [true; \(address); 185; by the central (0x13)]",
            "info: The peripheral is off the air. [Lamp; The run has ended.]",
        ]
        let levels = Logger.Level.allCases.filter { $0 >= level }.map { "\($0): " }
        #expect(log.lines == lines.filter { line in levels.contains { line.hasPrefix($0) } })
    }

    /// Runs a peripheral on a backend that reports states, and returns the log.
    private func lines(
        cancelling: Bool = false,
        of script: @escaping @Sendable (any PeripheralHost, RecordingLink) async throws -> Void
    ) async throws -> [String] {
        let log = LogRecorder(from: .info)
        let (scriptEnded, end) = AsyncStream.makeStream(of: Never.self)
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            try await script(host, link)
            end.finish()
            await link.untilStopped()
        }
        let lamp = Peripheral("Lamp") { GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) } }
        let run = Task {
            try await lamp.run(on: backend, logger: log.logger, clock: ManualClock()) { _ in
                for await _ in scriptEnded {}
                if cancelling { try await untilCancelled() }
            }
        }
        if cancelling {
            for await _ in scriptEnded {}
            run.cancel()
        }
        _ = await run.result
        return log.lines
    }

    @Test func lossOfPowerIsTheReason() async throws {
        let reason = "The adapter is off. Switch it on."
        let lines = try await lines { host, _ in
            var state = PeripheralState(radio: .poweredOff, isRegistered: true, reason: reason)
            host.handle(.stateChanged(state))
            state.isRegistered = false
            host.handle(.suspended)
            host.handle(.stateChanged(state))
            host.handle(.stateChanged(PeripheralState(radio: .poweredOn, isRegistered: true)))
            host.handle(.stateChanged(.onTheAir))
        }
        #expect(
            lines == [
                "info: The peripheral is on the air. [Lamp]",
                "info: The peripheral is off the air. [Lamp; \(reason)]",
                "info: The peripheral is on the air. [Lamp]",
                "info: The peripheral is off the air. [Lamp; The run has ended.]",
            ]
        )
    }

    @Test func missingAdvertisementIsLogged() async throws {
        let partial = PeripheralState(radio: .poweredOn, isRegistered: true, reason: "No room.")
        let lines = try await lines { host, link in
            host.handle(.stateChanged(partial))
            host.handle(.stateChanged(.onTheAir))
            host.handle(.suspended)
            // After a new publication, not all advertisements are on the air.
            host.handle(.stateChanged(partial))
            host.handle(.published(PublishedPeripheral(link: link)))
        }
        let line = "info: The peripheral serves centrals, but does not send all of its advertisements."
        #expect(
            lines == [
                "info: The peripheral is on the air. [Lamp]",
                "\(line) [Lamp; No room.]",
                "info: The peripheral is on the air. [Lamp]",
                "info: The peripheral is off the air. [Lamp]",
                "\(line) [Lamp; No room.]",
                "info: The peripheral is off the air. [Lamp; The run has ended.]",
            ]
        )
    }

    @Test func cancelledRunLogsTheEnd() async throws {
        let lines = try await lines(cancelling: true) { _, _ in }
        #expect(
            lines == [
                "info: The peripheral is on the air. [Lamp]",
                "info: The peripheral is off the air. [Lamp; The run has ended.]",
            ]
        )
    }

    /// Info is the level of a new logger, and a central may be able to stop the Bluetooth stack.
    @Test func stateThatChangesOftenDoesNotFloodTheLog() async throws {
        let lines = try await lines { host, _ in
            for _ in 0..<100 {
                host.handle(.suspended)
                host.handle(.stateChanged(.onTheAir))
            }
        }
        let onTheAir = lines.count { $0 == "info: The peripheral is on the air. [Lamp]" }
        let offTheAir = lines.count { $0 == "info: The peripheral is off the air. [Lamp]" }
        #expect(onTheAir == LogHistory.burst && offTheAir == LogHistory.burst)
        // The end of the run, which has another reason, and the numbers of the suppressed lines.
        #expect(lines.count == 2 * LogHistory.burst + 1 + 2)
    }

    @Test func requestsOfOtherKindsAreDistinguished() async throws {
        let log = LogRecorder(from: .trace)
        let text = Characteristic<String>(uuid, [.read, .write, .writeWithoutResponse]) {
            UserDescription("Text")
            Read { "0123456789" }
            Write { _ in }
            Authorization { _ in true }
        }
        let backend = ScriptedBackend { publication, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            let central = Central(address: .virtualHost)
            let attributes = publication.table.attributes
            let value = try #require(attributes.first { $0.isValue }).handle
            let description = try #require(attributes.last).handle
            func outcome(_ answer: BackendAnswer) async {
                guard case .deferred(let start) = answer else { return }
                await withCheckedContinuation { waiting in start { _ in waiting.resume() } }
            }
            await outcome(host.read(BackendReadRequest(attribute: value, central: central)))
            await outcome(host.read(BackendReadRequest(attribute: value, offset: 4, central: central)))
            await outcome(host.read(BackendReadRequest(attribute: description, central: central)))
            var write = BackendWriteRequest(attribute: value, value: [0x41, 0x42], central: central)
            write.expectsResponse = false
            await outcome(host.write(write))
            (write.value, write.expectsResponse, write.isOnlyAuthorization) = ([], true, true)
            await outcome(host.write(write))
            await outcome(host.read(BackendReadRequest(attribute: AttributeHandle(0xFFFF), central: central)))
            link.stop()
        }
        try? await Peripheral("P") { GATTService(0x180F) { text } }
            .run(on: backend, logger: log.logger) { _ in try await untilCancelled() }
        let name = "characteristic \(uuid) \"Text\""
        let central = DeviceAddress.virtualHost
        #expect(
            log.lines.filter { $0.hasPrefix("trace: ") } == [
                "trace: A request was handled. [\(name); \(central); 10; read; success]",
                "trace: A request was handled. [\(name); \(central); 6; 4; read; success]",
                "trace: A request was handled. [descriptor 2901 of \(name); \(central); 4; read; success]",
                "trace: A request was handled. [\(name); \(central); 2; write without response; success]",
                "trace: A request was handled. [\(name); \(central); authorize; success]",
                "trace: A request was handled. [attribute 0xffff; \(central); read; invalid handle (0x01)]",
            ]
        )
    }
}

extension AttributeTable.Attribute {
    fileprivate var isValue: Bool {
        if case .characteristicValue = kind { true } else { false }
    }
}
