import PeripheralBlueZ
import PeripheralBlueZModel
import PeripheralCore
import PeripheralDBus
import PeripheralDoctor
import PeripheralEmulator
import Testing

/// The text for a bug report.
@Suite(.timeLimit(.minutes(1)))
struct BugReportTests {
    private static func contains(
        _ report: String,
        _ expected: [String],
        _ location: SourceLocation = #_sourceLocation
    ) {
        // The padding between a name and its value does not matter.
        let lines = report.split(separator: "\n")
        let present = Set(lines.map { $0.split(separator: " ").joined(separator: " ") })
        for line in expected {
            #expect(present.contains(line), "\(line)\n\(report)", sourceLocation: location)
        }
    }

    @Test(arguments: ["5.66", "5.87"] as [BlueZVersion])
    func emulatedMachineIsReported(version: BlueZVersion) async throws {
        let adapter = EmulatedAdapter("hci7")
        let configuration = EmulatedBlueZ.Configuration(
            version: version,
            adapters: [adapter],
            deviceName: "Ada's lamp"
        )
        try await withEmulatedBlueZ(configuration) { bluez in
            let arguments = ["--report", "--bus", bluez.busAddress]
            let outcome = try await DoctorCommand.run(arguments, files: MachineFiles(root: "/nonexistent"))
            #expect(outcome.status == 0)
            Self.contains(
                outcome.output,
                [
                    "running \(version)", "hci7", "Powered yes", "Roles central, peripheral",
                    "ActiveInstances 0",
                    "SupportedIncludes tx-power, appearance, local-name", "LEAdvertisingManager1 yes",
                    "ok policy-callbacks-allowed bluetoothd can call this program.",
                    "Address \(adapter.address.description.prefix(9))…",
                ]
            )
            if version >= "5.77" {
                Self.contains(
                    outcome.output,
                    [
                        "SupportedCapabilities MinTxPower 0, MaxTxPower 0, MaxAdvLen 251, MaxScnRspLen 251",
                        "SupportedFeatures CanSetTxPower, HardwareOffload",
                    ]
                )
            }
            #expect(!outcome.output.contains(adapter.address.description))
            // The name of an adapter can be that of a person.
            #expect(!outcome.output.contains("Ada"))
        }
    }

    @Test func factsOfTheMachineAreReported() {
        var machine = ExaminationTests.perfect
        machine.daemon.installedPath = "/usr/libexec/bluetooth/bluetoothd"
        machine.daemon.installedVersion = "5.66"
        machine.daemon.arguments = ["bluetoothd", "-P", "battery"]
        machine.system.distribution = "Debian GNU/Linux 12 (bookworm)"
        machine.system.kernel = "6.1.0-18-arm64"
        machine.system.bluezPackage = "5.66-1+deb12u2"
        machine.system.capabilities = 1 << 13
        machine.seesLinks = false
        ExaminationTests.configure(&machine, "Channels = 3\n[CSIS]\nSIRK = 1234")
        Self.contains(
            BugReport(of: machine).text,
            [
                "distribution Debian GNU/Linux 12 (bookworm)", "kernel Linux 6.1.0-18-arm64",
                "installed 5.66 at /usr/libexec/bluetooth/bluetoothd",
                "package of the distribution bluez 5.66-1+deb12u2", "command line bluetoothd -P battery",
                "CAP_NET_RAW yes", "CAP_NET_ADMIN no", "Bluetooth sockets not allowed", "[GATT] Channels 3",
                "hci0 not blocked", "kernel: buffers not readable without a Bluetooth socket",
                "warning setting-channels Up to 3 channels carry attributes (EATT), so a later update can overtake an "
                    + "earlier update.",
            ]
        )
        #expect(!BugReport(of: machine).text.contains("1234"), "The SIRK is a secret.")
    }

    @Test func controllerIsReported() {
        var machine = ExaminationTests.perfect
        machine.adapters[0].details = [Machine.Detail("Manufacturer", "10"), Machine.Detail("Version", "9")]
        var controller = Machine.Controller()
        controller.information = .refused(status: 0x14)
        controller.hardware = "usb:v0A5Cp21E8"
        machine.controllers["hci0"] = controller
        Self.contains(
            BugReport(of: machine).text,
            [
                "Manufacturer company 10", "Version 5.0 (HCI version 9)", "hardware usb:v0A5Cp21E8",
                "kernel: controller not readable without CAP_NET_ADMIN",
            ]
        )
    }

    @Test func controllerIsReportedWithoutBluetoothd() {
        var machine = Machine(bus: Machine.Bus(address: "unix:path=/b", obstacle: "no such file"))
        var controller = Machine.Controller()
        controller.hardware = "usb:v0A5Cp21E8"
        machine.controllers["hci1"] = controller
        Self.contains(
            BugReport(of: machine).text,
            ["hci1", "bluetoothd does not report this adapter", "hardware usb:v0A5Cp21E8"]
        )
    }

    @Test func versionIsThatOfTheChangelog() throws {
        let changelog = try MachineFiles().read(#filePath.repositoryRoot + "/CHANGELOG.md", limit: 65_536)
        let lines = String(decoding: changelog, as: UTF8.self).split(separator: "\n")
        let heading = try #require(lines.first { $0.hasPrefix("## ") })
        #expect(heading.split(separator: " ")[1] == BugReport.version)
    }
}
