internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The step of the registration that failed.
enum RegistrationStep {
    case connecting, findingAdapters, poweringOn, preparing, registeringAgent, registeringApplication,
        registeringAdvertisement
    case withdrawing
}

extension RegistrationStateMachine {
    /// The reason why the registration ends, or why a part of the registration fails.
    ///
    /// Two failures are equal if their kind and message are equal.
    struct Failure: Error, Hashable {
        var code: PeripheralError.Code
        var message: String
        /// The errors of the declaration, if these errors are the reason.
        var issues: [DeclarationIssue] = []
        /// The state of the radio that follows from the failure; `nil` if the state follows from the code.
        var radio: PeripheralState.Radio?
    }
}

extension RegistrationStateMachine.Failure {
    static let busLost = Self(
        code: .connectionLost,
        message: "The connection to the system bus was lost. If D-Bus is not running, start it."
    )

    static let daemonLost = Self(
        code: .connectionLost,
        message: "bluetoothd has ended. Run 'systemctl start bluetooth'."
    )

    static let noDaemon = Self(
        code: .stackUnavailable,
        message: "bluetoothd is not running. Run 'systemctl start bluetooth'."
    )

    static let daemonStarting = Self(
        code: .stackUnavailable,
        message: "bluetoothd was not running. The bus is now starting bluetoothd."
    )

    static let advertisementLost = Self(
        code: .connectionLost,
        message: "bluetoothd has withdrawn the advertisement. See bluetoothd's log for the reason."
    )

    static let powerLost = poweredOff("The Bluetooth adapter is powered off")

    /// A failure because the adapter is powered off; the remedy is the same for every adapter.
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
            message: "The Bluetooth adapter \(path) is missing. Plug in the adapter."
        )
    }

    /// A failure because another program uses handles that this program has pinned.
    static func handlesTaken(of service: ServiceDescription, in blocks: Set<HandleBlock>) -> Self {
        Self(
            code: .rejected,
            message:
                "The service \(service.uuid) cannot be pinned at \(service.handle?.description ?? "its handle") because "
                + "another program uses handles in \(blocks.sorted().map(\.description).joined(separator: ", ")). "
                + "Only one program can use these handles. Stop that program, or pin the service outside this range."
        )
    }

    static let noHandles = Self(
        code: .rejected,
        message: "There are too few free handles below 0x0400, because other programs use the others. "
            + "Remove services, stop another program, or allow the services to freeze the Database Hash."
    )

    /// Creates a failure with the given errors of the declaration.
    init(_ errors: [DeclarationIssue]) {
        self.init(code: .rejected, message: DeclarationError(issues: errors).description, issues: errors)
    }

    /// The error that the program receives.
    var error: any Error {
        issues.isEmpty
            ? PeripheralError(code: code, message: message) : DeclarationError(issues: issues)
    }

    /// Whether bluetoothd still runs and can withdraw other registrations.
    var leavesDaemon: Bool {
        code != .connectionLost && code != .stackUnavailable
    }

    /// Whether the failure is a loss, and not a refusal.
    var isLoss: Bool {
        code == .connectionLost || code == .stackUnavailable || code == .adapterUnavailable
    }

    /// Whether the connection to the bus is lost, or may no longer deliver messages.
    var isOfConnection: Bool {
        code == .connectionLost || code == .timedOut
    }

    /// The state of the radio that follows from the failure.
    var radioState: PeripheralState.Radio {
        if let radio { return radio }
        return switch code {
        case .permissionDenied: .unauthorized
        case .adapterUnavailable: .unsupported
        case .rejected: .poweredOn
        default: .resetting
        }
    }

    /// Creates a failure with a message that says what went wrong and what to do.
    init(_ error: any Error, step: RegistrationStep) {
        guard let error = error as? BusError else {
            self.init(code: .connectionLost, message: "The registration with bluetoothd failed: \(error).")
            return
        }
        switch error {
        case .connectionFailed(let address, let reason):
            self.init(
                code: .stackUnavailable,
                message: "The system bus cannot be reached at \(address) (\(reason)). Start D-Bus."
            )
        case .disconnected:
            self = .busLost
        case .timedOut:
            self.init(
                code: .timedOut,
                message: "bluetoothd does not answer. Run 'systemctl restart bluetooth'."
            )
        case .remote(let name, let message):
            self.init(remote: name, message, step: step)
        case .cancelled, .signatureMismatch, .invalidName, .invalidValue, .limitExceeded:
            self.init(code: .connectionLost, message: "The communication with bluetoothd failed: \(error).")
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
                message:
                    "The Bluetooth adapter is gone, or does not support the role of a peripheral (\(message)). "
                    + "Plug it in, or use another adapter."
            )
        default:
            self.init(
                code: .rejected,
                message: Self.explanation(of: name, message, step),
                radio: step == .poweringOn ? .poweredOff : nil
            )
        }
    }

    /// Returns the likely reason, because bluetoothd reports few reasons.
    private static func explanation(of name: String, _ message: String, _ step: RegistrationStep) -> String {
        let said = "\(name): \(message)"
        switch (step, name) {
        case (.poweringOn, "org.bluez.Error.Blocked"):
            return "The Bluetooth adapter is blocked (\(said)); use 'rfkill unblock bluetooth'."
        case (.poweringOn, _):
            return
                "bluetoothd could not power on the adapter (\(said)). Run 'rfkill' to see whether it is blocked."
        case (.preparing, _):
            return "bluetoothd could not apply the adapter settings (\(said))."
        case (.registeringAgent, _):
            return
                "bluetoothd did not accept the pairing agent (\(said)), so no central can pair. See its log for the "
                + "reason, or use 'pairing: .system' to leave pairing to the system's agent."
        case (.registeringApplication, _) where message == "No object received":
            return
                "bluetoothd could not read the services (\(said)). Allow it to call this program in D-Bus's policy "
                + "(bluetooth.conf)."
        case (.registeringApplication, _):
            return
                "bluetoothd refused the services (\(said)). Its log names the attribute that it does not accept. "
                + "An old version of BlueZ may not support a property or a security level."
        default:
            return "bluetoothd refused the request (\(said))."
        }
    }
}
