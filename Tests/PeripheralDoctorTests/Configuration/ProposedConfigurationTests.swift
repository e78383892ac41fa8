import Glibc
import PeripheralBlueZ
import PeripheralBlueZModel
import PeripheralDoctor
import Testing

/// The complete main.conf that the doctor proposes.
@Suite(.timeLimit(.minutes(1)))
struct ProposedConfigurationTests {
    private static func machine(_ lines: String, _ version: BlueZVersion = .v5_87) -> Machine {
        var machine = ExaminationTests.perfect
        machine.daemon.reportedVersion = version
        machine.adapters[0].advertising?.usesClassic = true
        machine.configuration.content = .read(KeyFile(Array(lines.utf8)))
        return machine
    }

    @Test func fileIsComplete() throws {
        let machine = Self.machine(
            """
            # A comment.
            [General]
            Name = Lamp
            JustWorksRepairing = always
            Channels = 3
            [CSIS]
            SIRK = 1234
            [Policy]
            AutoEnable = no
            """
        )
        let proposal = try #require(ProposedConfiguration(for: machine))
        #expect(
            proposal.text == """
                [General]
                Name = Lamp
                JustWorksRepairing = never
                ControllerMode = le
                # Only if the program passes the version of BlueZ to BlueZBackend:
                # DeviceID = false

                [CSIS]
                SIRK = 1234

                [GATT]
                Channels = 1
                Client = false

                [LE]
                MinConnectionInterval = 6
                MaxConnectionInterval = 3200
                """
        )
        #expect(proposal.path == "/etc/bluetooth/main.conf")
        #expect(proposal.command == "sudo systemctl restart bluetooth")
    }

    @Test(
        arguments: [
            "", "nonsense\n[GATT]\nCache = no\nClient = yes",
            "[GATT]\nSecurity = low\nChannels = 6\nChannels = 2",
            "[General]\nCache = no\nTemporaryTimeout = 0\nControllerMode = bredr\n[Policy]\nAutoEnable = false",
            "[LE]\nMinAdvertisementInterval = fast\nMaxConnectionInterval = 20\n[General]\nPairableTimeout = 60",
            "[LE]\nMinConnectionInterval = 80\nMaxConnectionInterval = 100\n[General]\nSecureConnections = off",
            "[General]\nChannels = 9\nExchangeMTU = 100\n[GATT]\nPrivacy = on",
        ],
        ["5.66", "5.75", "5.87"] as [BlueZVersion]
    )
    func proposalNeedsNoOtherProposal(lines: String, version: BlueZVersion) throws {
        var machine = Self.machine(lines, version)
        let proposal = try #require(ProposedConfiguration(for: machine))
        machine.configuration.content = .read(KeyFile(Array(proposal.text.utf8)))
        #expect(ProposedConfiguration(for: machine) == nil)
        let findings = Examination(of: machine).findings
        #expect(
            findings.allSatisfy { $0.subject != "main.conf" || $0.severity < .warning },
            "\(proposal.text)"
        )
    }

    @Test func missingFileIsProposed() {
        var machine = Self.machine("")
        machine.configuration.content = .missing
        #expect(ProposedConfiguration(for: machine) != nil)
    }

    @Test func unreadableFileIsNotReplaced() {
        var machine = Self.machine("")
        machine.configuration.content = .unreadable("Permission denied")
        #expect(ProposedConfiguration(for: machine) == nil)
    }

    @Test(arguments: ["5.66", "5.75", "5.87"] as [BlueZVersion])
    func fileOfTheFirmwareNeedsNoChange(version: BlueZVersion) throws {
        let path = #filePath.repositoryRoot + "/Firmware/init/main.conf"
        let file = try MachineFiles().read(path, limit: 65_536)
        var machine = Self.machine("", version)
        machine.configuration.content = .read(KeyFile(file))
        #expect(ProposedConfiguration(for: machine) == nil)
    }
}

extension String {
    /// The root of the repository, for the path of a file of these tests.
    var repositoryRoot: String {
        split(separator: "/").prefix { $0 != "Tests" }.reduce("") { "\($0)/\($1)" }
    }
}
