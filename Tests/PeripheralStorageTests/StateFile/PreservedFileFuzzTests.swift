import Glibc
import PeripheralCore
import PeripheralStorage
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit
@testable import struct PeripheralStorage.StateFileName

/// A peripheral is restored from any state file, or the store reports the reason.
///
/// Other files do not change.
@Suite(.timeLimit(.minutes(120)))
struct PreservedFileFuzzTests {
    private static let identifier = "com.example.lamp"
    private static let name = StateFileName(identifier: identifier)
    private static let inputCount = 500

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
        let published = try #require(try await PreservedPeripheral(Self.identifier, in: store)).state.database
        let place = try #require(published.startsOnAir[1])
        let declarations = try ([lamp] + changedLamps(pinnedAt: place)).map {
            try DeclaredState($0, table: $0.publication().table)
        }
        var outcomes: [RestorationError.Code?: Int] = [:]
        for number in 0..<Self.inputCount / 2 {
            var text = original
            text.changeStateFile(using: &generator)
            try parent.write(text, to: "state/" + Self.name.state)
            do throws(RestorationError) {
                guard let preserved = try await PreservedPeripheral(Self.identifier, in: store) else {
                    Issue.record("input \(number), seed \(seed) is nothing")
                    continue
                }
                if let fault = RestoredPeripheral(preserved).fault {
                    Issue.record("input \(number), seed \(seed): \(fault)")
                }
                outcomes[nil, default: 0] += 1
            } catch {
                if !Self.expected.contains(error.code) {
                    Issue.record("input \(number), seed \(seed): \(error)")
                }
                outcomes[error.code, default: 0] += 1
            }
            let declared = try #require(declarations.randomElement(using: &generator))
            try await restore(declared, from: store, "input \(number), seed \(seed)")
            if number % 1000 == 0 || number == Self.inputCount / 2 - 1 { try examineDirectories(seed: seed) }
        }
        // Otherwise nothing but the checksum was tested, or nothing but what is ignored.
        #expect((outcomes[nil] ?? 0) > Self.inputCount / 100, "\(outcomes)")
        #expect((outcomes[.damaged] ?? 0) > Self.inputCount / 10, "\(outcomes)")
    }

    /// Has what is declared begin with the file, which is set aside if it cannot be used.
    private func restore(_ declared: DeclaredState, from store: StateDirectory, _ input: String) async throws
    {
        let start = try await RestorationStart(of: declared, under: Self.identifier, in: store)
        if let fault = start.fault() { Issue.record("\(input): \(fault)") }
        let problems = start.problems.filter { $0.operation != .value }
        #expect(problems.isEmpty == (start.loaded != nil), "\(input)")
        for problem in problems {
            #expect(problem.operation == .restore && Self.expected.contains(problem.error.code), "\(input)")
            let path = try #require(problem.setAside)
            let name = problem.error.version.map(Self.name.state(ofVersion:)) ?? Self.name.setAside(1)
            #expect(path == parent.path(of: "state/" + name), "\(input)")
            #expect(rename(path, parent.path(of: "state/" + Self.name.state)) == 0)
        }
        await start.record?.close()
    }

    private static let expected: [RestorationError.Code] = [.damaged, .foreign, .newerVersion, .tooLarge]

    private func examineDirectories(seed: UInt64) throws {
        #expect(parent.names == ["file", "state"], "seed \(seed)")
        #expect(try parent.read("file") == [1, 2, 3], "seed \(seed)")
        let names = TemporaryDirectory.names(in: parent.path(of: "state"))
        #expect(names == [Self.name.lock, Self.name.state].sorted(), "seed \(seed)")
    }

    private let isOn = Characteristic<Bool>(
        0x2A56,
        [.read, .write, .notify],
        security: .encrypted
    ) {
        PersistentValue(initially: true)
        Authorization { true }
        UserDescription("Power")
        PresentationFormat(.boolean)
        PresentationFormat(.uint8)
        AggregateFormat()
    }
    private let audit = Characteristic<UInt8>(
        0x2A1C,
        .notify,
        length: .exactly(1),
        updates: .durable(beyond: 4)
    )

    /// A peripheral with a bit of everything.
    private var lamp: Peripheral {
        Peripheral("Lamp", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 7) }
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") {
                isOn
                audit
            }
            Advertisement(localName: "Lamp", services: [.battery], manufacturerData: [0xFFFF: [1, 2]])
        }
    }

    /// What later versions of its program declare, one of them with a service that is to stand at this place.
    private func changedLamps(pinnedAt place: AttributeHandle) -> [Peripheral] {
        let number = Characteristic<UInt16>(0x2A56, [.read, .write]) { PersistentValue(initially: 3) }
        let event = Characteristic<UInt8>(0x2A1C, .indicate, updates: .durable)
        func lamp(@PeripheralBuilder _ content: () -> [PeripheralElement]) -> Peripheral {
            Peripheral("Lamp", restorationIdentifier: Self.identifier, pairing: .justWorks, content)
        }
        return [
            lamp { GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { number } },
            lamp {
                GATTService(0x1815, isPrimary: false) { Characteristic<UInt8>(0x2A57, value: 1) }
                GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") {
                    event
                    isOn
                }
                GATTService(.battery, handle: place) {
                    Characteristic<UInt8>(0x2A19, value: 8)
                    Characteristic<UInt8>(0x2A1B, value: 8)
                }
            },
        ]
    }

    /// Its file.
    private func original(in store: StateDirectory) async throws -> [UInt8] {
        let backend = InMemoryBackend()
        let lamp = lamp
        try await lamp.run(on: backend, restoringFrom: store, logger: .silent) { [isOn, audit] session in
            let central = backend.makeCentral(of: lamp)
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
