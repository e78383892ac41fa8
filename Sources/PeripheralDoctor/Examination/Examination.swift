/// The rules that turn the facts about a machine into findings.
package struct Examination: Sendable {
    package let machine: Machine

    package init(of machine: Machine) {
        self.machine = machine
    }

    /// All findings, from the bus up.
    package var findings: [Finding] {
        [busFinding] + DaemonExamination(machine: machine).findings
            + PolicyExamination(machine: machine).findings + radioFindings
            + AdapterExamination(machine: machine).findings + linkFindings
            + ConfigurationExamination(machine: machine).findings
    }

    /// The configuration file that solves the problems of bluetoothd's configuration, if there are any.
    package var proposedConfiguration: ProposedConfiguration? { ProposedConfiguration(for: machine) }

    private var busFinding: Finding {
        guard let obstacle = machine.bus.obstacle else {
            return Finding(.ok, "bus", "bus-reachable", "The system bus answers at \(machine.bus.address).")
        }
        return Finding(
            .error,
            "bus",
            "bus-unreachable",
            "The system bus does not answer at \(machine.bus.address): \(obstacle).",
            reason: "Programs can communicate with bluetoothd only through the bus.",
            remedy: "Start D-Bus. In a container, mount the host's /run/dbus/system_bus_socket.",
            command: machine.privileged("systemctl start dbus")
        )
    }

    private var linkFindings: [Finding] {
        guard !machine.seesLinks else {
            return [
                Finding(
                    .ok,
                    "kernel",
                    "links-visible",
                    "This program can see which links are encrypted."
                )
            ]
        }
        return [
            Finding(
                .note,
                "kernel",
                "links-hidden",
                "The kernel does not allow this program to open a Bluetooth socket.",
                reason:
                    "The program cannot determine which links are encrypted. After a bonded central "
                    + "reconnects, the central receives secured values only after it has used a secured "
                    + "attribute. A container with its own network does not allow Bluetooth sockets. A "
                    + "systemd service also does not allow Bluetooth sockets if its setting "
                    + "RestrictAddressFamilies= omits AF_BLUETOOTH.",
                remedy: "Run the program in the host's network, or allow AF_BLUETOOTH. "
                    + "The program does not need a privilege for a Bluetooth socket."
            )
        ]
    }

    private var radioFindings: [Finding] {
        let blocked = machine.radioSwitches.filter { $0.isSoftBlocked || $0.isHardBlocked }
        guard !blocked.isEmpty else {
            return machine.radioSwitches.isEmpty
                ? [] : [Finding(.ok, "radio", "radio-unblocked", "No switch blocks the Bluetooth radio.")]
        }
        return blocked.map { radio in
            // A blocked radio is not an error if another adapter is ready.
            let severity = Finding.Severity.error(unless: machine.adapters.contains(where: \.isReady))
            let reason = "An adapter whose radio is blocked cannot be powered on."
            guard radio.isHardBlocked else {
                return Finding(
                    severity,
                    "radio",
                    "radio-soft-blocked",
                    "A program has blocked the radio \(radio.name).",
                    reason: reason,
                    remedy: "Unblock the radio with the command 'rfkill' from the package 'rfkill'.",
                    command: machine.privileged("rfkill unblock bluetooth")
                )
            }
            return Finding(
                severity,
                "radio",
                "radio-hard-blocked",
                "A switch on the device blocks the radio \(radio.name).",
                reason: reason,
                remedy:
                    "Turn Bluetooth on with the device's switch, key or firmware setup. "
                    + "Programs cannot unblock the radio."
            )
        }
    }
}

extension Finding.Severity {
    /// Returns the severity `error`, or `note` if another fact compensates for the problem.
    static func error(unless isMadeUpFor: Bool) -> Finding.Severity {
        isMadeUpFor ? .note : .error
    }
}
