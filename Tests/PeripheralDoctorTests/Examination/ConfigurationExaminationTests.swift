import PeripheralBlueZModel
import PeripheralCore
import PeripheralDoctor
import Testing

/// What is said of bluetoothd's configuration.
@Suite(.timeLimit(.minutes(1)))
struct ConfigurationExaminationTests {
    private static func remarks(_ lines: String, _ version: BlueZVersion = .v5_87) -> Set<String> {
        var machine = ExaminationTests.perfect
        machine.daemon.reportedVersion = version
        ExaminationTests.configure(&machine, lines)
        return ExaminationTests.remarks(of: machine)
    }

    @Test(
        arguments: [
            ("", []),
            ("Client = true", ["warning setting-client"]),
            ("Client = 0 ", []),
            ("Client = yes", ["warning setting-invalid", "warning setting-client"]),
            ("Client = true\n[General]\nReverseServiceDiscovery = false", []),
            ("Cache = no", ["note setting-cache"]),
            ("Cache = always", []),
            ("Channels = 3", ["warning setting-channels"]),
            ("Channels = 1", []),
            ("Channels = 7", ["warning setting-invalid"]),
            ("ExchangeMTU = 100", ["note setting-exchange-mtu"]),
            ("ExchangeMTU = 517", []),
            ("KeySize = 16", ["note setting-key-size"]),
            ("Security = low", ["warning setting-security"]),
            ("[General]\nControllerMode = bredr", ["error setting-controller-mode"]),
            ("[General]\nControllerMode = le ", ["warning setting-invalid"]),
            ("[General]\nJustWorksRepairing = always", ["warning setting-repairing"]),
            ("[General]\nJustWorksRepairing = confirm", ["note setting-repairing"]),
            ("[General]\nJustWorksRepairing = never", []),
            ("[General]\nDeviceID = usb:1234:5678:0001", ["note setting-device-id"]),
            ("[General]\nTemporaryTimeout = 0", ["note setting-temporary-timeout"]),
            ("[General]\nTemporaryTimeout = 30", []),
            ("[General]\nPrivacy = device", ["note setting-privacy"]),
            ("[General]\nAutoEnable = false", ["warning setting-misplaced"]),
            ("[Policy]\nAutoEnable = false", ["warning setting-auto-enable"]),
            ("[Policy]\nAutoEnable = true", []),
            ("[General]\nPairableTimeout = 60", ["warning setting-pairable-timeout"]),
            ("[General]\nPairableTimeout = 0", []),
            ("[General]\nSecureConnections = off", ["warning setting-secure-connections"]),
            ("[LE]\nMinConnectionInterval = 0x6", []),
            ("[LE]\nMaxConnectionInterval = 40", []),
            (
                "[LE]\nMinConnectionInterval = 24\nMaxConnectionInterval = 40",
                ["note setting-connection-interval"]
            ),
            (
                "[LE]\nMinConnectionInterval = fast",
                ["warning setting-invalid", "note setting-connection-interval"]
            ),
            ("[LE]\nMinAdvertisementInterval = 0", ["warning setting-invalid"]),
            ("[CSIS]\nSize = 2\nUnknown = 1", []),
            (
                "nonsense",
                [
                    "warning configuration-damaged", "warning setting-client", "note setting-device-id",
                    "note setting-connection-interval",
                ]
            ),
        ] as [(String, Set<String>)]
    )
    func settingIsJudged(lines: String, expected: Set<String>) {
        #expect(Self.remarks(lines) == expected)
    }

    @Test func valueOfAnotherVersionDoesNotCount() {
        // The number of channels is 3 by default before 5.67, and [GATT] Client is not there before 5.74.
        #expect(
            Self.remarks("[General]\nExperimental = true", .v5_66) == [
                "note daemon-shares-updates", "warning setting-unknown", "warning setting-client",
                "note setting-channels",
            ]
        )
        #expect(
            Self.remarks("[General]\nReverseServiceDiscovery = 0\nExperimental = 1", "5.70") == [
                "note daemon-shares-updates", "warning setting-unknown",
            ]
        )
    }

    @Test func classicAdapterMattersUnlessItIsOff() {
        var machine = ExaminationTests.perfect
        machine.adapters[0].advertising?.usesClassic = true
        #expect(ExaminationTests.remarks(of: machine).isEmpty)
        ExaminationTests.configure(&machine, "[General]\nControllerMode = dual")
        #expect(ExaminationTests.remarks(of: machine) == ["note setting-controller-mode"])
    }

    @Test func commandLineCounts() {
        var machine = ExaminationTests.perfect
        ExaminationTests.configure(&machine, "Client = true")
        machine.daemon.arguments = ["/usr/libexec/bluetooth/bluetoothd", "-P", "input,battery"]
        #expect(ExaminationTests.remarks(of: machine) == ["note setting-client"])
        machine.daemon.arguments = ["bluetoothd", "--noplugin=battery"]
        #expect(ExaminationTests.remarks(of: machine) == ["note setting-client"])
        machine.daemon.arguments = ["bluetoothd", "-Pinput", "--configfile=/etc/other.conf"]
        #expect(ExaminationTests.remarks(of: machine) == ["warning setting-client"])
        #expect(machine.daemon.value(of: "-f", "--configfile") == "/etc/other.conf")
    }

    @Test func unreadableFileIsTold() {
        var machine = ExaminationTests.perfect
        machine.configuration.content = .unreadable("Permission denied")
        #expect(ExaminationTests.remarks(of: machine) == ["note configuration-unreadable"])
        machine.configuration.content = .missing
        #expect(
            ExaminationTests.remarks(of: machine) == [
                "warning setting-client", "note setting-device-id", "note setting-connection-interval",
            ]
        )
    }

    /// Each of these intervals is slow, or prevents advertising.
    @Test(
        arguments: [
            ("MaxAdvertisementInterval = 2048", "note"), ("MinAdvertisementInterval = 2048", "warning"),
            ("MaxAdvertisementInterval = x", "note"),
        ]
    )
    func slowAdvertisingIsTold(line: String, severity: String) {
        let remarks = Self.remarks("[LE]\n\(line)", .v5_66)
        #expect(remarks.contains("\(severity) setting-advertising-interval"))
    }

    /// Before 5.77, only the configuration determines the interval, unless bluetoothd is experimental.
    @Test func theIntervalMattersWhereAdvertisementsHaveNone() {
        var machine = ExaminationTests.perfect
        machine.configuration.content = .missing
        for (version, isExperimental, isNoted) in [
            ("5.66", false, true), ("5.76", false, true), ("5.77", false, false), ("5.66", true, false),
        ] as [(BlueZVersion, Bool, Bool)] {
            machine.daemon.reportedVersion = version
            machine.daemon.arguments = isExperimental ? ["--experimental"] : []
            let isFound = ExaminationTests.remarks(of: machine).contains("note setting-advertising-interval")
            #expect(isFound == isNoted, "\(version)")
        }
    }
}
