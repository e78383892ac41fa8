internal import PeripheralBlueZ
internal import PeripheralBlueZModel

/// The facts about a machine that a bug report needs, as plain text.
///
/// The report contains no address of another device. It contains the first half of the adapter's address, but
/// not its name.
package struct BugReport: Sendable {
    /// The version of this package, as in CHANGELOG.md.
    package static let version = "Unreleased"

    private typealias Line = (name: String, value: String)

    private let machine: Machine

    package init(of machine: Machine) {
        self.machine = machine.withoutNames
    }

    package var text: String {
        var sections = [
            ("program", program), ("system", system), ("bluetoothd", daemon), ("user", user),
            ("main.conf", configuration),
        ]
        if !machine.radioSwitches.isEmpty { sections.append(("radio", radio)) }
        let names = machine.adapters.map(\.name)
        for name in names + machine.controllers.keys.filter({ !names.contains($0) }).sorted() {
            sections.append((name, adapter(name)))
        }
        let facts = sections.map { title, lines in
            let lines = lines.map { "  " + Self.padded($0.name, to: 29) + $0.value.printable }
            return ([title] + lines).joined(separator: "\n")
        }
        return (facts + [findings]).joined(separator: "\n\n")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    // MARK: - Sections

    private var program: [Line] {
        [("swift-peripheral", Self.version), ("compiler", Self.compiler)]
    }

    private static var compiler: String {
        #if compiler(>=6.4)
            let version = "6.4 or later"
        #elseif compiler(>=6.3)
            let version = "6.3"
        #else
            let version = "6.2"
        #endif
        #if arch(x86_64)
            return "Swift \(version) for x86_64"
        #elseif arch(arm64)
            return "Swift \(version) for arm64"
        #else
            return "Swift \(version)"
        #endif
    }

    private var system: [Line] {
        let bus = machine.bus.obstacle.map { "unreachable: \($0)" } ?? "answers at \(machine.bus.address)"
        return [
            ("distribution", machine.system.distribution ?? "unknown"),
            ("kernel", machine.system.kernel.map { "Linux \($0)" } ?? "unknown"),
            ("container", machine.system.container ?? "none found"),
            ("D-Bus", bus),
        ]
    }

    private var daemon: [Line] {
        let daemon = machine.daemon
        let running =
            switch daemon.state {
            case .running: daemon.reportedVersion.map { "\($0)" } ?? "yes, but reports no version"
            case .startable: "no, but the bus can start it"
            case .absent: "no"
            case .unknown: "unknown"
            }
        let installed = daemon.installedPath.map { path in
            "\(daemon.installedVersion.map { "\($0)" } ?? "unknown version") at \(path)"
        }
        let package = machine.system.bluezPackage.map { "bluez \($0)" }
        let arguments = daemon.arguments.joined(separator: " ")
        return [
            ("running", running),
            ("installed", installed ?? "not in a usual place"),
            ("package of the distribution", package ?? "no Debian package"),
            ("command line", arguments.isEmpty ? "not readable" : arguments),
        ]
    }

    private var user: [Line] {
        let membership =
            switch machine.membership {
            case .noGroup: "there is no such group"
            case .outsider: "no"
            case .memberAtNextLogin: "at the next login"
            case .member: "yes"
            }
        let capabilities = Machine.Capability.allCases.map { capability in
            let has = machine.system.has(capability)
            return (capability.name, has.map { $0 ? "yes" : "no" } ?? "unknown")
        }
        return [
            ("root", machine.isRoot ? "yes" : "no"),
            ("group bluetooth", membership),
            ("Bluetooth sockets", machine.seesLinks ? "allowed" : "not allowed"),
        ] + capabilities
    }

    private var configuration: [Line] {
        switch machine.configuration.content {
        case .missing: return [("file", "\(machine.configuration.path) does not exist")]
        case .unreadable(let reason):
            return [("file", "\(machine.configuration.path) is not readable: \(reason)")]
        case .read(let file):
            // Other settings do not affect a peripheral, and can be secrets, such as the SIRK.
            let known = Set(Setting.all.map(\.key))
            return [("file", machine.configuration.path)]
                + file.entries.filter { known.contains($0.key) }.map { ("[\($0.group)] \($0.key)", $0.value) }
        }
    }

    private var radio: [Line] {
        machine.radioSwitches.map { radio in
            guard !radio.isHardBlocked else { return (radio.name, "blocked by a switch") }
            return (radio.name, radio.isSoftBlocked ? "blocked by a program" : "not blocked")
        }
    }

    private var findings: String {
        let findings = Examination(of: machine).findings.map { finding in
            let severity = Self.padded(finding.severity.rawValue, to: 9)
            return "  \(severity)\(Self.padded(finding.code, to: 30))\(finding.summary.printable)"
        }
        return (["findings"] + findings).joined(separator: "\n")
    }

    // MARK: - Adapters

    private func adapter(_ name: String) -> [Line] {
        let adapter = machine.adapters.first { $0.name == name }
        return (adapter.map(Self.lines) ?? [("bluetoothd", "does not report this adapter")])
            + Self.lines(of: machine.controllers[name] ?? Machine.Controller())
    }

    private static func lines(of adapter: Machine.Adapter) -> [Line] {
        [("Address", adapter.address)]
            + adapter.details.map { detail in
                switch (detail.name, UInt16(detail.value)) {
                case ("Manufacturer", let number?): (detail.name, manufacturer(number))
                case ("Version", let number?): (detail.name, bluetoothVersion(number))
                default: (detail.name, detail.value)
                }
            }
            + [
                ("GattManager1", adapter.servesAttributes ? "yes" : "no"),
                ("LEAdvertisingManager1", adapter.advertising == nil ? "no" : "yes"),
            ]
    }

    private static func lines(of controller: Machine.Controller) -> [Line] {
        var lines: [Line] = []
        if let hardware = controller.hardware { lines.append(("hardware", hardware)) }
        switch controller.information {
        case .information(let information):
            lines += [
                ("kernel: manufacturer", manufacturer(information.manufacturer)),
                ("kernel: Bluetooth", bluetoothVersion(UInt16(information.version))),
                ("kernel: supported settings", information.supported.joined(separator: ", ")),
                ("kernel: current settings", information.current.joined(separator: ", ")),
            ]
        // Permission Denied.
        case .refused(status: 0x14):
            lines.append(("kernel: controller", "not readable without CAP_NET_ADMIN"))
        case .refused(let status): lines.append(("kernel: controller", "not readable, status \(status)"))
        case .unavailable: lines.append(("kernel: controller", "not readable without a Bluetooth socket"))
        }
        guard let description = controller.description else {
            return lines + [("kernel: buffers", "not readable without a Bluetooth socket")]
        }
        let kind = description.isClassic ? " of classic Bluetooth; those of LE are not readable" : ""
        return lines + [
            ("kernel: bus", description.bus),
            ("kernel: buffers", "\(description.packets) packets of \(description.packetSize) bytes\(kind)"),
        ]
    }

    private static func manufacturer(_ number: UInt16) -> String {
        "company \(number)"
    }

    /// The names of the HCI versions (Assigned Numbers, 2.1).
    private static func bluetoothVersion(_ number: UInt16) -> String {
        let names: [UInt16: String] = [
            6: "4.0", 7: "4.1", 8: "4.2", 9: "5.0", 10: "5.1", 11: "5.2", 12: "5.3", 13: "5.4", 14: "6.0",
            15: "6.1",
        ]
        return names[number].map { "\($0) (HCI version \(number))" } ?? "HCI version \(number)"
    }
}

extension Machine {
    /// The machine without the names of its adapters, and with the first half of their addresses.
    fileprivate var withoutNames: Machine {
        var machine = self
        for index in machine.adapters.indices {
            machine.adapters[index].address = machine.adapters[index].address.prefix(9) + "…"
            machine.adapters[index].alias = "…"
        }
        return machine
    }
}
