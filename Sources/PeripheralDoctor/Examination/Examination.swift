/// The judgement of a machine: facts in, findings out.
package struct Examination: Sendable {
    package let machine: Machine

    package init(of machine: Machine) {
        self.machine = machine
    }

    /// All findings, from the bus up.
    package var findings: [Finding] {
        [busFinding] + daemonFindings + policyFindings + radioFindings + adapterFindings
            + linkFindings + configurationFindings
    }

    /// What to type for a command that only root may run.
    func privileged(_ command: String) -> String {
        machine.isRoot ? command : "sudo \(command)"
    }

    private var busFinding: Finding {
        guard let obstacle = machine.bus.obstacle else {
            return Finding(.ok, "bus", "bus-reachable", "The system bus answers at \(machine.bus.address).")
        }
        return Finding(
            .error,
            "bus",
            "bus-unreachable",
            "The system bus does not answer at \(machine.bus.address): \(obstacle).",
            reason: "Programs talk to bluetoothd by the bus alone.",
            remedy: "Start D-Bus. In a container, mount the host's /run/dbus/system_bus_socket.",
            command: privileged("systemctl start dbus")
        )
    }

    private var linkFindings: [Finding] {
        guard !machine.seesLinks else {
            return [
                Finding(
                    .ok,
                    "kernel",
                    "links-visible",
                    "The kernel tells this program which links are encrypted."
                )
            ]
        }
        return [
            Finding(
                .note,
                "kernel",
                "links-hidden",
                "The kernel opens no Bluetooth socket for this program.",
                reason:
                    "Which links are encrypted cannot be told, so that a bonded central that returns gets "
                    + "secured values only after it has used a secured attribute. A container with a network of "
                    + "its own has no such sockets, nor has a systemd service whose RestrictAddressFamilies= "
                    + "leaves AF_BLUETOOTH out.",
                remedy: "Run in the host's network, or allow AF_BLUETOOTH; no privilege is needed."
            )
        ]
    }

    private var radioFindings: [Finding] {
        let blocked = machine.radioSwitches.filter { $0.isSoftBlocked || $0.isHardBlocked }
        guard !blocked.isEmpty else {
            return machine.radioSwitches.isEmpty
                ? [] : [Finding(.ok, "radio", "radio-unblocked", "No switch turns the Bluetooth radio off.")]
        }
        return blocked.map { radio in
            // One that is switched off among others is nobody's fault.
            let severity = Finding.Severity.error(unless: machine.adapters.contains(where: \.isReady))
            let reason = "An adapter whose radio is blocked cannot be powered on."
            guard radio.isHardBlocked else {
                return Finding(
                    severity,
                    "radio",
                    "radio-soft-blocked",
                    "A program has blocked the radio \(radio.name).",
                    reason: reason,
                    remedy: "Unblock it, with the command of the package 'rfkill'.",
                    command: privileged("rfkill unblock bluetooth")
                )
            }
            return Finding(
                severity,
                "radio",
                "radio-hard-blocked",
                "A switch of the device blocks the radio \(radio.name).",
                reason: reason,
                remedy: "Turn Bluetooth on by the device's switch, key or firmware setup: no program can."
            )
        }
    }
}

extension Finding.Severity {
    /// An error, or a note where something else makes up for it.
    static func error(unless isMadeUpFor: Bool) -> Finding.Severity {
        isMadeUpFor ? .note : .error
    }
}
