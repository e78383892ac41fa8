import PeripheralBlueZ
import PeripheralBlueZModel
import PeripheralCore
import PeripheralDBus
import PeripheralDoctor
import PeripheralEmulator
import PeripheralKit
import Testing

/// The command, from its arguments to what it prints, on an emulated bluetoothd.
@Suite(.timeLimit(.minutes(1)))
struct DoctorCommandTests {
    @Test(
        arguments: [
            ([], false, nil), (["--json"], true, nil), (["--bus", "unix:path=/b"], false, "unix:path=/b"),
            (["--bus=unix:path=/b", "--json"], true, "unix:path=/b"),
        ] as [([String], Bool, String?)]
    )
    func argumentsAreRead(arguments: [String], printsJSON: Bool, bus: String?) throws {
        let command = try DoctorCommand(arguments)
        #expect(command.printsJSON == printsJSON)
        #expect(command.bus == bus)
        #expect(!command.printsBugReport)
    }

    @Test func bugReportIsAnOption() throws {
        #expect(try DoctorCommand(["--report"]).printsBugReport)
    }

    @Test(arguments: [
        ["--bus"], ["--bus", ""], ["--bus="], ["--jason"], ["hci0"], ["--json", "x"], ["--json", "--report"],
    ])
    func usageErrorIsTold(arguments: [String]) async throws {
        let outcome = try await DoctorCommand.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.complaint.hasSuffix(DoctorCommand.help))
    }

    @Test func helpIsNoExamination() async throws {
        let outcome = try await DoctorCommand.run(["--help", "--bus", "nowhere"])
        #expect(outcome.output == DoctorCommand.help)
        #expect(outcome.status == 0)
    }

    // MARK: - On a bus

    /// The outcome with a machine that has no files.
    private static func run(_ bluez: EmulatedBlueZ) async throws -> DoctorCommand.Outcome {
        try await DoctorCommand.run(["--json", "--bus", bluez.busAddress], files: files)
    }

    private static let files = MachineFiles(root: "/nonexistent")

    private static func expect(
        _ outcome: DoctorCommand.Outcome,
        _ codes: [String],
        status: Int32,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == status, sourceLocation: location)
        for code in codes {
            let text = "\"code\": \"\(code)\""
            #expect(outcome.output.contains(text), "\(code)\n\(outcome.output)", sourceLocation: location)
        }
    }

    @Test(arguments: ["5.66", "5.82", "5.87"] as [BlueZVersion])
    func healthyMachine(version: BlueZVersion) async throws {
        try await withEmulatedBlueZ(EmulatedBlueZ.Configuration(version: version)) { bluez in
            let outcome = try await Self.run(bluez)
            Self.expect(
                outcome,
                [
                    "bus-reachable", "daemon-running", "policy-calls-allowed", "policy-callbacks-allowed",
                    "adapter-on", "advertising-free", "configuration-missing",
                ],
                status: 0
            )
            #expect(outcome.output.contains("bluetoothd \(version) runs."))
        }
    }

    @Test func nothingIsLeftBehind() async throws {
        try await withEmulatedBlueZ { bluez in
            for _ in 0..<3 { Self.expect(try await Self.run(bluez), ["policy-callbacks-allowed"], status: 0) }
        }
    }

    @Test func noBus() async throws {
        let outcome = try await DoctorCommand.run(["--bus", "unix:path=/nonexistent/bus"], files: Self.files)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("The system bus does not answer at unix:path=/nonexistent/bus"))
    }

    @Test func configurationIsProposedOnce() async throws {
        try await withEmulatedBlueZ { bluez in
            let outcome = try await DoctorCommand.run(["--bus", bluez.busAddress], files: Self.files)
            for text in ["Proposed /etc/bluetooth/main.conf", "systemctl restart bluetooth", "[General]\n"] {
                #expect(outcome.output.split(separator: text).count == 2, "\(text)\n\(outcome.output)")
            }
            #expect(outcome.output.contains("\n\n[GATT]\nChannels = 1\n"), "\(outcome.output)")
        }
    }

    @Test func noDaemon() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.stopDaemon()
            Self.expect(try await Self.run(bluez), ["bus-reachable", "daemon-missing"], status: 1)
        }
    }

    @Test func noAdapter() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.removeAdapter("hci0")
            Self.expect(try await Self.run(bluez), ["daemon-running", "adapter-missing"], status: 1)
        }
    }

    @Test func poweredOff() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.setPowered(false)
            Self.expect(try await Self.run(bluez), ["adapter-off", "policy-callbacks-allowed"], status: 1)
        }
    }

    @Test func oneOfTwoPoweredOff() async throws {
        let adapters = [EmulatedAdapter("hci0", isPowered: false), EmulatedAdapter("hci1")]
        try await withEmulatedBlueZ(EmulatedBlueZ.Configuration(adapters: adapters)) { bluez in
            Self.expect(try await Self.run(bluez), ["adapter-off", "adapter-on"], status: 0)
        }
    }

    @Test func noAdvertisementLeft() async throws {
        try await withEmulatedBlueZ { bluez in
            let free = try await Machine(bus: .address(bluez.busAddress), files: Self.files)
                .adapters.first?.advertising?.freeInstances
            let count = try #require(free)
            let crowd = Peripheral("Crowd") {
                GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 99) }
                for number in 0..<count { Advertisement(localName: "Crowd \(number)") }
            }
            try await crowd.run(on: bluez.backend) { _ in
                let outcome = try await Self.run(bluez)
                Self.expect(outcome, ["advertising-full"], status: 1)
                #expect(
                    outcome.output.contains(
                        "The adapter accepts no more advertisements. \(count) are registered."
                    )
                )
            }
            Self.expect(try await Self.run(bluez), ["advertising-free"], status: 0)
        }
    }
}
