import PeripheralBlueZModel
import PeripheralCore
import PeripheralDoctor
import Testing

/// From machines to findings.
@Suite(.timeLimit(.minutes(1)))
struct ExaminationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The findings that are not `ok`, such as `error adapter-off`.
        let expected: Set<String>
        let change: @Sendable (inout Machine) -> Void

        init(_ name: String, _ expected: Set<String>, _ change: @escaping @Sendable (inout Machine) -> Void) {
            testDescription = name
            self.expected = expected
            self.change = change
        }
    }

    /// A machine on which there is nothing to say but `ok`.
    static var perfect: Machine {
        var machine = Machine(bus: Machine.Bus(address: "unix:path=/run/dbus/system_bus_socket"))
        machine.daemon.state = .running
        machine.daemon.answer = .answered
        machine.daemon.callBack = .arrived
        machine.daemon.reportedVersion = .v5_87
        machine.daemon.oldestVersion = .v5_87
        machine.policyInterfaces = [
            "org.bluez.Agent1", "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1",
            "org.bluez.LEAdvertisement1",
        ]
        machine.adapters = [Machine.Adapter(name: "hci0")]
        machine.kernelAdapters = ["hci0"]
        machine.radioSwitches = [Machine.RadioSwitch(name: "hci0")]
        configure(&machine, "")
        return machine
    }

    /// The settings of a device that is a peripheral only, and lines behind them.
    static func configure(_ machine: inout Machine, _ lines: String) {
        let text = """
            [General]
            DeviceID = false
            ControllerMode = le
            JustWorksRepairing = never
            [LE]
            MinAdvertisementInterval = 160
            MaxAdvertisementInterval = 244
            MinConnectionInterval = 6
            MaxConnectionInterval = 3200
            [GATT]
            Client = false
            \(lines)
            """
        machine.configuration.content = .read(KeyFile(Array(text.utf8)))
    }

    static func remarks(of machine: Machine) -> Set<String> {
        Set(
            Examination(of: machine).findings.filter { $0.severity != .ok }
                .map { "\($0.severity.rawValue) \($0.code)" }
        )
    }

    @Test func perfectMachineIsOK() {
        let findings = Examination(of: Self.perfect).findings
        #expect(findings.allSatisfy { $0.severity == .ok })
        #expect(
            findings.map(\.code) == [
                "bus-reachable", "daemon-running", "policy-calls-allowed", "policy-callbacks-allowed",
                "radio-unblocked", "adapter-on", "advertising-free", "links-visible", "configuration-read",
            ]
        )
    }

    @Test(arguments: machines)
    func machineIsJudged(_ machine: Case) {
        var changed = Self.perfect
        machine.change(&changed)
        #expect(Self.remarks(of: changed) == machine.expected)
    }

    private static let machines: [Case] = [
        Case("no bus", ["error bus-unreachable"]) {
            $0 = unasked($0)
            $0.bus.obstacle = "no such file"
        },
        Case("bluetoothd is not installed", ["error daemon-missing"]) {
            $0 = unasked($0)
            $0.daemon.state = .absent
        },
        Case("bluetoothd is installed, not running", ["error daemon-stopped"]) {
            $0 = unasked($0)
            $0.daemon.state = .absent
            $0.daemon.installedVersion = .v5_87
        },
        Case("bluetoothd can be started", ["warning daemon-stopped"]) {
            $0 = unasked($0)
            $0.daemon.state = .startable
        },
        Case("bluetoothd hangs", ["error daemon-silent"]) {
            $0 = unasked($0)
            $0.daemon.state = .running
            $0.daemon.answer = .silent
        },
        Case("bluetoothd answers nonsense", ["error daemon-failing"]) {
            $0 = unasked($0)
            $0.daemon.state = .running
            $0.daemon.answer = .failed("nonsense")
        },
        Case("an old BlueZ", ["error daemon-too-old", "warning setting-unknown", "warning setting-client"]) {
            $0.daemon.reportedVersion = "5.65"
            configure(&$0, "Channels=1\n[General]\nExperimental=true")
        },
        Case("5.66", ["note daemon-shares-updates", "warning setting-unknown", "warning setting-client"]) {
            $0.daemon.reportedVersion = .v5_66
            configure(&$0, "Channels=1\n[General]\nExperimental=true")
        },
        Case(
            "5.75",
            ["note daemon-shares-updates", "warning daemon-refuses-handles", "note setting-experimental"]
        ) {
            $0.daemon.reportedVersion = "5.75"
        },
        Case("the version is not told", ["note daemon-version-unreported"]) {
            $0.daemon.reportedVersion = nil
        },
        Case("calls are denied", ["error policy-calls-denied"]) {
            $0 = unasked($0)
            $0.daemon.state = .running
            $0.daemon.answer = .denied
        },
        Case("calls back are denied", ["error policy-callbacks-denied"]) { $0.daemon.callBack = .missing },
        Case("the policy is older than LE", ["warning policy-interfaces-missing"]) {
            $0.policyInterfaces?.remove("org.bluez.LEAdvertisement1")
        },
        Case("the policy is elsewhere", []) { $0.policyInterfaces = nil },
        Case("no adapter", ["error adapter-missing"]) {
            $0.adapters = []
            $0.kernelAdapters = []
        },
        Case("an adapter that bluetoothd hides", ["error adapter-hidden"]) { $0.adapters = [] },
        Case("powered off", ["error adapter-off"]) { $0.adapters[0].isPowered = false },
        Case("powered off beside one that is on", ["note adapter-off"]) {
            $0.adapters.append(Machine.Adapter(name: "hci1", isPowered: false))
        },
        Case("no GATT", ["error adapter-incapable"]) { $0.adapters[0].servesAttributes = false },
        Case("no advertising", ["error adapter-incapable"]) { $0.adapters[0].advertising = nil },
        Case("central only", ["error adapter-incapable"]) { $0.adapters[0].roles = ["central"] },
        Case("roles are not told", []) { $0.adapters[0].roles = nil },
        Case("no advertisement left", ["error advertising-full"]) {
            $0.adapters[0].advertising?.freeInstances = 0
        },
        Case("not pairable", ["note adapter-not-pairable"]) { $0.adapters[0].isPairable = false },
        Case("soft block", ["error adapter-off", "error radio-soft-blocked"]) {
            $0.adapters[0].isPowered = false
            $0.radioSwitches[0].isSoftBlocked = true
        },
        Case("hard block", ["error adapter-missing", "error radio-hard-blocked"]) {
            $0.adapters = []
            $0.kernelAdapters = []
            $0.radioSwitches[0].isSoftBlocked = true
            $0.radioSwitches[0].isHardBlocked = true
        },
        Case("a block beside one that is on", ["note radio-soft-blocked"]) {
            $0.radioSwitches.append(Machine.RadioSwitch(name: "hci1", isSoftBlocked: true))
        },
        Case("links are hidden", ["note links-hidden"]) { $0.seesLinks = false },
    ]

    /// A machine whose bluetoothd was not asked for anything.
    private static func unasked(_ machine: Machine) -> Machine {
        var machine = machine
        machine.daemon = Machine.Daemon()
        machine.adapters = []
        return machine
    }

    @Test(
        arguments: [
            (.noGroup, nil), (.outsider, "sudo usermod -aG bluetooth \"$USER\""),
            (.memberAtNextLogin, "newgrp bluetooth"), (.member, nil),
        ] as [(Machine.GroupMembership, String?)]
    )
    func denialNamesTheRemedy(membership: Machine.GroupMembership, command: String?) throws {
        var machine = Self.unasked(Self.perfect)
        machine.daemon.state = .running
        machine.daemon.answer = .denied
        machine.membership = membership
        let finding = try #require(Examination(of: machine).findings.first { $0.severity == .error })
        #expect(finding.command == command)
        #expect(finding.remedy != nil)
    }

    @Test func rootNeedsNoSudo() {
        var machine = Self.unasked(Self.perfect)
        machine.daemon.state = .startable
        #expect(Examination(of: machine).findings.compactMap(\.command) == ["sudo systemctl start bluetooth"])
        machine.isRoot = true
        #expect(Examination(of: machine).findings.compactMap(\.command) == ["systemctl start bluetooth"])
    }

    @Test(arguments: machines)
    func whatIsWrongHasAReason(_ machine: Case) {
        var changed = Self.perfect
        machine.change(&changed)
        for finding in Examination(of: changed).findings where finding.severity != .ok {
            #expect(finding.reason != nil, "\(finding.code)")
            #expect(finding.remedy != nil || finding.severity == .note, "\(finding.code)")
        }
    }
}
