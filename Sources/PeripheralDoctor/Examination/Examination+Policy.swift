internal import PeripheralCore

extension Examination {
    /// What bluetoothd has to be allowed to call of a program, besides the standard interfaces.
    static let calledInterfaces = [
        "org.bluez.Agent1", "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1",
        "org.bluez.LEAdvertisement1",
    ]

    /// The bus's policy: who may call whom.
    var policyFindings: [Finding] {
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
                ("Run as root, or allow the user in BlueZ's D-Bus policy, bluetooth.conf.", nil)
            case .outsider:
                (
                    "Add the user to the group 'bluetooth', and log in again.",
                    privileged("usermod -aG bluetooth \"$USER\"")
                )
            case .memberAtNextLogin:
                (
                    "Log in again: the user is in the group 'bluetooth', but not in this session.",
                    "newgrp bluetooth"
                )
            case .member:
                (
                    "Allow the user in BlueZ's D-Bus policy, bluetooth.conf: it does not allow the group 'bluetooth'.",
                    nil
                )
            }
        return Finding(
            .error,
            "policy",
            "policy-calls-denied",
            "The policy of the bus keeps this user from calling bluetoothd.",
            reason: "Nothing can be registered with it.",
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
                    reason: "It reads the services from the program, and passes each request on to it.",
                    remedy:
                        "Restore the D-Bus policy that comes with BlueZ, bluetooth.conf, which lets root call "
                        + "programs by the interfaces of org.bluez and the standard ones."
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
                    "BlueZ's D-Bus policy does not speak of \(unmentioned.joined(separator: ", ")).",
                    reason: "Unless another policy allows it, bluetoothd cannot call a program by these, and "
                        + "requests of centrals fail.",
                    remedy: "Restore the D-Bus policy that comes with BlueZ, bluetooth.conf."
                )
            ]
        }
        guard machine.daemon.callBack == .arrived else { return [] }
        return [Finding(.ok, "policy", "policy-callbacks-allowed", "bluetoothd can call this program.")]
    }
}
