internal import PeripheralBlueZModel
internal import PeripheralCore

/// The rules about the Bluetooth adapters.
struct AdapterExamination {
    let machine: Machine

    /// The findings for the adapters that bluetoothd reports, or for the reason why bluetoothd reports no
    /// adapters.
    var findings: [Finding] {
        guard machine.daemon.answer == .answered else { return [] }
        guard !machine.adapters.isEmpty else { return [absentAdapter] }
        return machine.adapters.flatMap(findings(of:))
    }

    private var absentAdapter: Finding {
        let known = machine.kernelAdapters ?? []
        guard known.isEmpty else {
            return Finding(
                .error,
                "adapters",
                "adapter-hidden",
                "The kernel has \(known.joined(separator: ", ")), but bluetoothd does not report it.",
                reason: "A peripheral needs an adapter.",
                remedy:
                    "Wait a moment, then check bluetoothd's log. The firmware of the adapter may be missing, or "
                    + "'ControllerMode' or 'MaxControllers' in main.conf excludes it.",
                command: machine.privileged("journalctl -b -u bluetooth")
            )
        }
        return Finding(
            .error,
            "adapters",
            "adapter-missing",
            "There is no Bluetooth adapter.",
            reason: "A peripheral needs an adapter.",
            remedy:
                "Plug in an adapter. If the adapter is built in, check that its driver and its firmware "
                + "are installed.",
            command: machine.privileged("dmesg | grep -i bluetooth")
        )
    }

    private func findings(of adapter: Machine.Adapter) -> [Finding] {
        let isMadeUpFor = machine.adapters.contains { $0 != adapter && $0.isReady }
        let severity = Finding.Severity.error(unless: isMadeUpFor)
        guard adapter.canBePeripheral else { return [incapacity(of: adapter, severity)] }
        return [power(of: adapter, severity)] + advertisingFindings(of: adapter, severity)
            + pairingFindings(of: adapter)
    }

    private func incapacity(of adapter: Machine.Adapter, _ severity: Finding.Severity) -> Finding {
        let lack =
            switch (adapter.servesAttributes, adapter.advertising) {
            case (false, _): "it has no GattManager1"
            case (_, nil): "it has no LEAdvertisingManager1"
            default: "it has no role 'peripheral'"
            }
        return Finding(
            severity,
            adapter.name,
            "adapter-incapable",
            "\(adapter.name) cannot be an LE peripheral: \(lack).",
            reason: "The controller, its driver or the configuration does not support LE peripherals.",
            remedy: "If main.conf sets 'ControllerMode = bredr', change the setting. Otherwise use "
                + "another adapter.",
            command: machine.privileged("btmgmt info")
        )
    }

    private func power(of adapter: Machine.Adapter, _ severity: Finding.Severity) -> Finding {
        let name = "\(adapter.name) (\(adapter.address), '\(adapter.alias)')"
        guard adapter.isPowered else {
            return Finding(
                severity,
                adapter.name,
                "adapter-off",
                "\(name) is powered off.",
                reason: "Nothing is on the air.",
                remedy: "Power on the adapter, or use AdapterSettings(powersOn: true) in the program.",
                command: "bluetoothctl power on"
            )
        }
        return Finding(.ok, adapter.name, "adapter-on", "\(name) is powered on.")
    }

    private func advertisingFindings(
        of adapter: Machine.Adapter,
        _ severity: Finding.Severity
    ) -> [Finding] {
        guard let advertising = adapter.advertising else { return [] }
        let (active, free) = (advertising.activeInstances, advertising.freeInstances)
        guard free > 0 else {
            return [
                Finding(
                    severity,
                    adapter.name,
                    "advertising-full",
                    "The adapter accepts no more advertisements. \(active) are registered.",
                    reason:
                        "bluetoothd refuses further advertisements with 'Maximum advertisements reached'.",
                    remedy: "Stop a program that advertises, or use another adapter."
                )
            ]
        }
        let kind = advertising.isExtended ? "extended" : "legacy"
        let interval =
            advertising.defaultInterval.map { "every \($0)" }
            ?? "at the interval of main.conf, by default 1280 ms"
        return [
            Finding(
                .ok,
                adapter.name,
                "advertising-free",
                "\(free) advertisements are free, \(active) registered; \(kind) advertising, "
                    + "up to \(advertising.maximumAdvertisingDataLength) bytes, \(interval), unless the program "
                    + "chooses another."
            )
        ]
    }

    private func pairingFindings(of adapter: Machine.Adapter) -> [Finding] {
        guard !adapter.isPairable else { return [] }
        return [
            Finding(
                .note,
                adapter.name,
                "adapter-not-pairable",
                "\(adapter.name) does not accept new bonds.",
                reason:
                    "A program that allows pairing changes this while it runs. With 'pairing: .system', it does "
                    + "not.",
                command: "bluetoothctl pairable on"
            )
        ]
    }
}
