internal import PeripheralCore

/// The rules about D-Bus's policy for bluetoothd.
struct PolicyExamination {
    let machine: Machine

    /// The interfaces of a program, besides the standard interfaces, that bluetoothd must be allowed to call.
    static let calledInterfaces = [
        "org.bluez.Agent1", "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1",
        "org.bluez.LEAdvertisement1",
    ]

    /// The findings for the policy of the bus, which controls the calls between programs.
    var findings: [Finding] {
        switch machine.daemon.answer {
        case .notAsked, .silent, .failed: return []
        case .denied: return [denial]
        case .answered:
            return [
                Finding(.ok, "policy", "policy-calls-allowed", "This user may call bluetoothd.")
            ] + callBackFindings
        }
    }

    private var denial: Finding {
        let (remedy, command): (String, String?) =
            switch machine.membership {
            case .noGroup:
                ("Run as root, or allow this user in BlueZ's D-Bus policy, bluetooth.conf.", nil)
            case .outsider:
                (
                    "Add this user to the group 'bluetooth', and log in again.",
                    machine.privileged("usermod -aG bluetooth \"$USER\"")
                )
            case .memberAtNextLogin:
                (
                    "Log in again. This session began before the user joined the group 'bluetooth'.",
                    "newgrp bluetooth"
                )
            case .member:
                (
                    "BlueZ's D-Bus policy does not allow the group 'bluetooth' to call bluetoothd. "
                        + "Allow this user in bluetooth.conf.",
                    nil
                )
            }
        return Finding(
            .error,
            "policy",
            "policy-calls-denied",
            "The D-Bus policy does not allow this user to call bluetoothd.",
            reason: "A program that runs as the current user cannot register a peripheral with bluetoothd.",
            remedy: remedy,
            command: command
        )
    }

    private var callBackFindings: [Finding] {
        if machine.daemon.callBack == .missing {
            return [
                Finding(
                    .error,
                    "policy",
                    "policy-callbacks-denied",
                    "bluetoothd cannot call this program.",
                    reason:
                        "bluetoothd must read the services from the program, and forward each request to the program.",
                    remedy:
                        "Restore BlueZ's own D-Bus policy, bluetooth.conf. It allows root to call programs "
                        + "through the interfaces of org.bluez and the standard interfaces."
                )
            ]
        }
        let unmentioned = Self.calledInterfaces.filter { machine.policyInterfaces?.contains($0) == false }
        if !unmentioned.isEmpty {
            return [
                Finding(
                    .warning,
                    "policy",
                    "policy-interfaces-missing",
                    "BlueZ's D-Bus policy does not mention \(unmentioned.joined(separator: ", ")).",
                    reason:
                        "Unless another policy allows the calls, bluetoothd cannot call a program through these "
                        + "interfaces, and requests of centrals fail.",
                    remedy: "Restore BlueZ's own D-Bus policy, bluetooth.conf."
                )
            ]
        }
        guard machine.daemon.callBack == .arrived else { return [] }
        return [Finding(.ok, "policy", "policy-callbacks-allowed", "bluetoothd can call this program.")]
    }
}
