internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// What the registration was doing when it failed.
enum RegistrationStep {
    case connecting, findingAdapters, poweringOn, preparing, registeringAgent, registeringApplication,
        registeringAdvertisement
    case withdrawing
}

extension RegistrationStateMachine {
    /// Why the registration ends, or a part of it fails; equal by its kind and words.
    struct Failure: Error, Hashable {
        var code: PeripheralError.Code
        var message: String
        /// What is wrong with the declaration, if that is the reason.
        var issues: [DeclarationIssue] = []
        /// What it tells of the radio; `nil` for what follows from the code.
        var radio: PeripheralState.Radio?
    }
}

extension RegistrationStateMachine.Failure {
    static let busLost = Self(
        code: .connectionLost,
        message: "The connection to the system bus is lost; start D-Bus if it is not running."
    )

    static let daemonLost = Self(
        code: .connectionLost,
        message: "bluetoothd has ended; start it with 'systemctl start bluetooth'."
    )

    static let noDaemon = Self(
        code: .stackUnavailable,
        message: "bluetoothd is not running; start it with 'systemctl start bluetooth'."
    )

    static let daemonStarting = Self(
        code: .stackUnavailable,
        message: "bluetoothd was not running; the bus has been asked to start it."
    )

    static let powerLost = poweredOff("The Bluetooth adapter is powered off")

    /// What is to be done is the same whichever adapter it is.
    static func poweredOff(_ finding: String) -> Self {
        Self(
            code: .adapterUnavailable,
            message:
                "\(finding); use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked.",
            radio: .poweredOff
        )
    }

    static func adapterLost(_ path: String) -> Self {
        Self(
            code: .adapterUnavailable,
            message: "The Bluetooth adapter \(path) is gone; plug it in."
        )
    }

    /// Another program has handles that the program has pinned.
    static func handlesTaken(of service: ServiceDescription, in blocks: Set<HandleBlock>) -> Self {
        Self(
            code: .rejected,
            message:
                "The service \(service.uuid) cannot be pinned at \(service.handle?.description ?? "its handle"): another program "
                + "has handles in \(blocks.sorted().map(\.description).joined(separator: ", ")), which one program at a time can "
                + "have. Stop that program, or pin the service outside of this range."
        )
    }

    /// The declaration has these errors.
    init(_ errors: [DeclarationIssue]) {
        self.init(code: .rejected, message: DeclarationError(issues: errors).description, issues: errors)
    }

    /// What the program gets.
    var error: any Error {
        issues.isEmpty
            ? PeripheralError(code: code, message: message) : DeclarationError(issues: issues)
    }

    /// What it tells of the radio.
    var radioState: PeripheralState.Radio {
        if let radio { return radio }
        return switch code {
        case .permissionDenied: .unauthorized
        case .adapterUnavailable: .unsupported
        case .rejected: .poweredOn
        default: .resetting
        }
    }

    /// Says in a sentence what went wrong and what to do about it.
    init(_ error: any Error, step: RegistrationStep) {
        guard let error = error as? BusError else {
            self.init(code: .connectionLost, message: "The registration failed: \(error).")
            return
        }
        switch error {
        case .connectionFailed(let address, let reason):
            self.init(
                code: .stackUnavailable,
                message: "The system bus cannot be reached at \(address) (\(reason)); start D-Bus first."
            )
        case .disconnected:
            self = .busLost
        case .timedOut:
            self.init(
                code: .timedOut,
                message: "bluetoothd does not answer; restart it with 'systemctl restart bluetooth'."
            )
        case .remote(let name, let message):
            self.init(remote: name, message, step: step)
        case .cancelled, .signatureMismatch, .invalidName, .invalidValue, .limitExceeded:
            self.init(code: .connectionLost, message: "bluetoothd is not understood: \(error).")
        }
    }

    private init(remote name: String, _ message: String, step: RegistrationStep) {
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ExecFailed", "org.freedesktop.DBus.Error.Spawn.ChildExited",
            "org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "org.freedesktop.systemd1.NoSuchUnit":
            self = .noDaemon
        case "org.freedesktop.DBus.Error.NoReply" where step != .findingAdapters:
            self = .daemonLost
        case "org.freedesktop.DBus.Error.AccessDenied":
            self.init(
                code: .permissionDenied,
                message:
                    "This user may not use bluetoothd; run as root, add the user to the group 'bluetooth' "
                    + "('usermod -aG bluetooth NAME') and log in again, or allow it in D-Bus's policy (bluetooth.conf)."
            )
        case "org.freedesktop.DBus.Error.UnknownObject" where step != .registeringAgent,
            "org.freedesktop.DBus.Error.UnknownMethod" where step != .registeringAgent:
            self.init(
                code: .adapterUnavailable,
                message: "The Bluetooth adapter is gone, or cannot be a peripheral (\(message))."
            )
        default:
            self.init(
                code: .rejected,
                message: Self.explanation(of: name, message, step),
                radio: step == .poweringOn ? .poweredOff : nil
            )
        }
    }

    /// bluetoothd gives few reasons; these are the likely ones.
    private static func explanation(of name: String, _ message: String, _ step: RegistrationStep) -> String {
        let said = "\(name): \(message)"
        switch (step, name) {
        case (.poweringOn, "org.bluez.Error.Blocked"):
            return "The Bluetooth adapter is blocked (\(said)); use 'rfkill unblock bluetooth'."
        case (.poweringOn, _):
            return
                "bluetoothd could not power the adapter on (\(said)); look with 'rfkill' whether it is blocked."
        case (.preparing, _):
            return "bluetoothd could not set the adapter up (\(said))."
        case (.registeringAgent, _):
            return
                "bluetoothd did not take the pairing agent (\(said)), so that no central could pair; look into its "
                + "log, or leave pairing to the agent that the system has by 'pairing: .system'."
        case (.registeringApplication, _) where message == "No object received":
            return
                "bluetoothd could not read the services (\(said)); D-Bus's policy (bluetooth.conf) must allow it to "
                + "call this program."
        case (.registeringApplication, _):
            return
                "bluetoothd refused the services (\(said)); its log tells which attribute it does not accept, "
                + "and an old BlueZ may not know a property or a security level."
        default:
            return "bluetoothd refused (\(said))."
        }
    }
}
