import Glibc
import PeripheralBlueZ
import PeripheralBlueZModel
import PeripheralCore
import PeripheralDBus
import PeripheralDoctor
import TestSupport
import Testing

/// The facts that the files of a machine contain.
@Suite(.timeLimit(.minutes(1)))
struct MachineFilesTests {
    private static let unreachable = "unix:path=/nonexistent/bus"

    private func machine(_ files: [String: String]) async throws -> Machine {
        let directory = try TemporaryFiles(files)
        return try await Machine(bus: .address(Self.unreachable), files: MachineFiles(root: directory.path))
    }

    @Test func emptyMachine() async throws {
        let machine = try await machine([:])
        #expect(machine.kernelAdapters == nil)
        #expect(machine.radioSwitches.isEmpty)
        #expect(machine.membership == .noGroup)
        #expect(machine.policyInterfaces == nil)
        #expect(machine.configuration == Machine.MainConfiguration())
        #expect(machine.daemon.installedVersion == nil)
        #expect(machine.system == Machine.System())
    }

    @Test func systemIsDescribed() async throws {
        let machine = try await machine([
            "etc/os-release": "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
            "proc/sys/kernel/osrelease": "6.1.0-18-arm64\n",
            "proc/self/status": "Name:\tx\nCapEff:\t0000000000003000\n",
            "run/systemd/container": "systemd-nspawn\n",
            "var/lib/dpkg/status":
                "Package: bluez-tools\nVersion: 2.0\n\nPackage: bluez\nStatus: x\nVersion: 5.66-1\n\nPackage: z\n",
        ])
        #expect(machine.system.distribution == "Debian GNU/Linux 12 (bookworm)")
        #expect(machine.system.kernel == "6.1.0-18-arm64")
        #expect(machine.system.capabilities == 0x3000)
        #expect(machine.system.container == "systemd-nspawn")
        #expect(machine.system.bluezPackage == "5.66-1")
    }

    @Test func radioSwitchesAreThoseOfBluetooth() async throws {
        let machine = try await machine([
            "sys/class/rfkill/rfkill0/type": "wlan\n", "sys/class/rfkill/rfkill0/soft": "1\n",
            "sys/class/rfkill/rfkill1/type": "bluetooth\n", "sys/class/rfkill/rfkill1/name": "hci0\n",
            "sys/class/rfkill/rfkill1/soft": "1\n", "sys/class/rfkill/rfkill1/hard": "0\n",
            "sys/class/rfkill/rfkill2/type": "bluetooth\n", "sys/class/rfkill/rfkill2/hard": "1\n",
        ])
        #expect(
            machine.radioSwitches == [
                Machine.RadioSwitch(name: "hci0", isSoftBlocked: true),
                Machine.RadioSwitch(name: "rfkill2", isHardBlocked: true),
            ]
        )
    }

    @Test func adaptersOfTheKernel() async throws {
        let machine = try await machine([
            "sys/class/bluetooth/hci9/device/modalias": "usb:v0A5Cp21E8\n",
            "sys/class/bluetooth/hci9:64/address": "",
        ])
        #expect(machine.kernelAdapters == ["hci9"])
        #expect(machine.controllers["hci9"]?.hardware == "usb:v0A5Cp21E8")
    }

    @Test func policyAndConfiguration() async throws {
        let machine = try await machine([
            "usr/share/dbus-1/system.d/bluetooth.conf":
                "<allow send_interface=\"org.bluez.Agent1\"/>\n<allow send_destination=\"org.bluez\"/>",
            "etc/bluetooth/main.conf": "[GATT]\nClient=false\n",
        ])
        #expect(machine.policyInterfaces == ["org.bluez.Agent1", "org.bluez"])
        guard case .read(let file) = machine.configuration.content else {
            Issue.record("not read: \(machine.configuration)")
            return
        }
        #expect(file["GATT", "Client"] == "false")
    }

    @Test func groupOfOthers() async throws {
        let machine = try await machine(["etc/group": "root:x:0:\nbluetooth:x:4294967000:nobody-here\n"])
        #expect(machine.membership == .outsider)
    }

    @Test func groupOfThisSession() async throws {
        let machine = try await machine(["etc/group": "bluetooth:x:\(getegid()):\n"])
        #expect(machine.membership == .member)
    }

    @Test func directoryIsNoConfiguration() async throws {
        let machine = try await machine(["etc/bluetooth/main.conf/file": ""])
        guard case .unreadable = machine.configuration.content else {
            Issue.record("read: \(machine.configuration)")
            return
        }
    }

    @Test func installedVersionIsAsked() async throws {
        let path = "usr/libexec/bluetooth/bluetoothd"
        let machine = try await machine([path: "#!/bin/sh\necho 5.79\n"])
        #expect(machine.daemon.installedVersion == "5.79")
        #expect(machine.daemon.installedPath == "/\(path)")
    }
}
