import Glibc
import PeripheralKit
import PeripheralStorage
import PeripheralTesting
import TestSupport
import Testing

@testable import struct PeripheralStorage.StateFileName

/// Whatever the file of a peripheral holds, a peripheral is restored from it or the reason is told, and nothing is touched.
@Suite(.timeLimit(.minutes(60)))
struct PreservedFileFuzzTests {
    private static let identifier = "com.example.lamp"
    private static let name = StateFileName(identifier: identifier)
    private static let inputCount = getenv("FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 2_000

    private let parent: TemporaryDirectory

    init() throws {
        parent = try TemporaryDirectory()
        try parent.write([1, 2, 3], to: "file")
        try #require(mkdir(parent.path(of: "state"), 0o700) == 0)
    }

    @Test(arguments: [71, 72] as [UInt64]) func anyFileIsRestoredOrRefused(seed: UInt64) async throws {
        let store = StateDirectory(path: parent.path(of: "state"))
        let original = try await original(in: store)
        var generator = SeededGenerator(seed: seed)
        var outcomes: [RestorationError.Code?: Int] = [:]
        for number in 0..<Self.inputCount / 2 {
            var text = original
            text.changeStateFile(using: &generator)
            try parent.write(text, to: "state/" + Self.name.state)
            do throws(RestorationError) {
                let preserved = try await PreservedPeripheral(Self.identifier, in: store)
                #expect(preserved != nil, "input \(number), seed \(seed)")
                outcomes[nil, default: 0] += 1
            } catch {
                if !Self.expected.contains(error.code) {
                    Issue.record("input \(number), seed \(seed): \(error)")
                }
                outcomes[error.code, default: 0] += 1
            }
            if number % 1000 == 0 || number == Self.inputCount / 2 - 1 { try examineDirectories(seed: seed) }
        }
        // Otherwise nothing but the checksum was tested, or nothing but what is ignored.
        #expect((outcomes[nil] ?? 0) > Self.inputCount / 100, "\(outcomes)")
        #expect((outcomes[.damaged] ?? 0) > Self.inputCount / 10, "\(outcomes)")
    }

    private static let expected: [RestorationError.Code] = [.damaged, .foreign, .newerVersion, .tooLarge]

    private func examineDirectories(seed: UInt64) throws {
        #expect(parent.names == ["file", "state"], "seed \(seed)")
        #expect(try parent.read("file") == [1, 2, 3], "seed \(seed)")
        let names = TemporaryDirectory.names(in: parent.path(of: "state"))
        #expect(names == [Self.name.lock, Self.name.state].sorted(), "seed \(seed)")
    }

    /// The file of a peripheral with a bit of everything.
    private func original(in store: StateDirectory) async throws -> [UInt8] {
        let isOn = Characteristic<Bool>(0x2A56, [.read, .write, .notify], security: .encrypted) {
            PersistentValue(initially: true)
            UserDescription("Power")
        }
        let audit = Characteristic<UInt8>(0x2A1C, .notify, length: .exactly(1), updates: .durable(beyond: 4))
        let peripheral = Peripheral("Lamp", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 7) }
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") {
                isOn
                audit
            }
            Advertisement(localName: "Lamp", services: [.battery], manufacturerData: [0xFFFF: [1, 2]])
        }
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend, restoringFrom: store, logger: .silent) { session in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.subscribe(to: isOn)
            try await central.subscribe(to: audit)
            let events = session.events
            central.disconnect()
            for await event in events {
                if case .disconnected = event { break }
            }
            try await session.notify(audit, 1)
        }
        return try parent.read("state/" + Self.name.state)
    }
}
