import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import TestSupport
import Testing

/// A run reports which settings of bluetoothd affect its peripheral.
@Suite(.timeLimit(.minutes(1)))
struct SettingsReportTests {
    /// The configuration that Debian installs: every setting is a comment.
    private static let untouched = "[General]\n#Name = BlueZ\n[GATT]\n#Cache = always\n[Policy]\n"

    /// A new peripheral, because each limits the repetition of its log lines in all its runs.
    private static var lamp: Peripheral {
        Peripheral("Lamp", pairing: .justWorks) {
            GATTService(0xC200) {
                Characteristic<Bool>(0xC201, [.read, .notify]) { Read { true } }
            }
        }
    }

    /// Runs a peripheral beside a main.conf, and returns the lines about it.
    private static func report(
        of peripheral: Peripheral = lamp,
        _ text: String?,
        on version: BlueZVersion = .v5_66,
        usesClassic: Bool = false,
        onlySettings: Bool = true,
        _ body: @escaping @Sendable (EmulatedBlueZ, PeripheralSession) async throws -> Void = { _, _ in }
    ) async throws -> [String] {
        let log = LogRecorder()
        let files = try TemporaryFiles(text.map { ["etc/bluetooth/main.conf": $0] } ?? [:])
        var configuration = EmulatedBlueZ.Configuration(version: version)
        configuration.files = MachineFiles(root: files.path)
        configuration.adapters[0].usesClassic = usesClassic
        try await withEmulatedBlueZ(configuration) { bluez in
            try await peripheral.run(on: bluez.backend, logger: log.logger) { session in
                try await body(bluez, session)
            }
        }
        return log.lines.filter { !onlySettings || $0.contains("/etc/bluetooth/main.conf: ") }
    }

    /// The declaration of the example `custom-lamp`.
    private static var customLamp: Peripheral {
        Peripheral("Lamp", pairing: .displayPasskey { _, _ in }) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Characteristic<Bool>(
                    "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
                    [.read, .write, .notify],
                    security: .authenticated
                ) {
                    Read { true }
                    Write { _ in }
                    UserDescription("Lamp power")
                }
            }
            Advertisement(manufacturerData: [0x0059: [1, 2]])
        }
    }

    /// The settings that affect the lamp, of which an adapter with classic Bluetooth has one more.
    @Test(
        arguments: [
            (
                .v5_66, false,
                ["ReverseServiceDiscovery", "MinAdvertisementInterval", "MinConnectionInterval", "Channels"]
            ),
            (
                .v5_66, true,
                [
                    "ReverseServiceDiscovery", "ControllerMode", "MinAdvertisementInterval",
                    "MinConnectionInterval", "Channels",
                ]
            ),
            (.v5_87, false, ["Client", "MinConnectionInterval"]),
            (.v5_87, true, ["Client", "ControllerMode", "MinConnectionInterval"]),
        ] as [(BlueZVersion, Bool, [String])]
    )
    func anUntouchedConfigurationIsReportedInFiveLinesAtMost(
        version: BlueZVersion,
        usesClassic: Bool,
        settings: [String]
    ) async throws {
        let lines = try await Self.report(
            of: Self.customLamp,
            Self.untouched,
            on: version,
            usesClassic: usesClassic,
            onlySettings: false
        )
        #expect(lines.count <= 5, "\(lines)")
        for setting in settings {
            #expect(lines.count { $0.contains("\(setting) = ") } == 1, "\(setting)")
        }
        let all = [
            "ReverseServiceDiscovery", "Client", "ControllerMode", "MinAdvertisementInterval", "Channels",
        ]
        for setting in all where !settings.contains(setting) {
            #expect(!lines.contains { $0.contains("'\(setting) = ") }, "\(setting)")
        }
        let first = lines.first { $0.contains("main.conf: ") }
        #expect(first?.hasPrefix("notice: ") == true && first?.contains("iPhone") == true)
    }

    /// Each line is reported once in a run, whether or not the peripheral is published again.
    @Test func aSecondPublicationRepeatsNothing() async throws {
        let once = try await Self.report(Self.untouched)
        let twice = try await Self.report(Self.untouched) { bluez, session in
            try await bluez.restartDaemon()
            try await until { !session.state.isOnTheAir }
            try await until { session.state.isOnTheAir }
        }
        #expect(twice == once)
    }

    @Test func theRecommendedConfigurationIsNotReported() async throws {
        let path = #filePath.split(separator: "/").prefix { $0 != "Tests" }.reduce("") { "\($0)/\($1)" }
        let recommended = try MachineFiles(root: path).read("/Firmware/init/main.conf", limit: 65_536)
        for version in ["5.66", "5.82", "5.87"] as [BlueZVersion] {
            #expect(try await Self.report(String(decoding: recommended, as: UTF8.self), on: version) == [])
        }
    }

    /// bluetoothd ignores such a file, so its settings do not count.
    @Test func aFileThatBluetoothdRefusesIsAnUntouchedOne() async throws {
        let lines = try await Self.report("[General]\nReverseServiceDiscovery = false\nnonsense\n")
        let untouched = try await Self.report(Self.untouched)
        #expect(lines == untouched)
    }

    /// For example in a container, where the file of bluetoothd is outside.
    @Test func withoutTheFileNothingIsReported() async throws {
        #expect(try await Self.report(nil) == [])
    }

    @Test func onlyWhatAffectsTheDeclarationIsReported() async throws {
        let repairing = "[General]\nJustWorksRepairing = always\n"
        let open = Peripheral("Open") { GATTService(0xC200) { Characteristic<UInt8>(0xC201, value: 1) } }
        #expect(try await Self.report(repairing).contains { line in line.contains("JustWorksRepairing") })
        let lines = try await Self.report(of: open, repairing)
        #expect(!lines.contains { $0.contains("JustWorksRepairing") || $0.contains("Channels") })
        let fast = Peripheral("Fast") {
            GATTService(0xC200) { Characteristic<UInt8>(0xC201, value: 1) }
            Advertisement(interval: .every(.milliseconds(100)))
        }
        #expect(
            try await Self.report(of: fast, Self.untouched, on: .v5_87).allSatisfy {
                !$0.contains("MinAdvertisementInterval")
            }
        )
    }
}
