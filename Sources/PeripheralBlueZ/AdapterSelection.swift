internal import PeripheralCore
internal import PeripheralKit

/// Which Bluetooth adapter a peripheral appears on.
public struct AdapterSelection: Hashable, Sendable, ExpressibleByStringLiteral {
    private enum Rule: Hashable {
        case firstPowered
        case named(String)
    }

    private let rule: Rule

    /// The first adapter that is powered on.
    public static let firstPowered = AdapterSelection(rule: .firstPowered)

    /// The adapter with a name such as `hci0`.
    public static func named(_ name: String) -> AdapterSelection {
        AdapterSelection(rule: .named(name))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// The adapter with this name.
    public init(stringLiteral name: String) {
        self = .named(name)
    }

    /// The adapter to use.
    func choose(
        from adapters: [AdapterDescription]
    ) -> Result<AdapterDescription, RegistrationStateMachine.Failure> {
        guard !adapters.isEmpty else {
            return .failure(
                "bluetoothd knows no Bluetooth adapter; plug one in, or look with 'bluetoothctl list' and 'rfkill'."
            )
        }
        switch rule {
        case .firstPowered:
            if let adapter = adapters.first(where: { $0.isPowered && $0.isUsable }) {
                return .success(adapter)
            }
            if adapters.contains(where: \.isPowered) {
                return .failure("No powered adapter can be a Bluetooth LE peripheral; use another adapter.")
            }
            return .failure(
                "No Bluetooth adapter is powered on; switch one on with 'bluetoothctl power on'."
            )
        case .named(let name):
            guard let adapter = adapters.first(where: { $0.name == name }) else {
                let names = adapters.map(\.name).joined(separator: ", ")
                return .failure("There is no Bluetooth adapter \(name); there is \(names).")
            }
            guard adapter.isPowered else {
                return .failure(
                    "The Bluetooth adapter \(name) is powered off; switch it on with 'bluetoothctl power on'."
                )
            }
            guard adapter.isUsable else {
                return .failure(
                    "The Bluetooth adapter \(name) cannot be a Bluetooth LE peripheral; use another adapter."
                )
            }
            return .success(adapter)
        }
    }
}

/// An adapter as bluetoothd describes it.
struct AdapterDescription: Hashable {
    var path: String
    var isPowered: Bool
    /// Whether it has the interfaces that a peripheral needs.
    var isUsable: Bool
    /// Whether a connection ends its advertising until that is registered again.
    ///
    /// So it is with the extended advertising of Bluetooth 5; seen on bluetoothd 5.66.
    var connectionsInterruptAdvertising = false
    /// The version of bluetoothd; the oldest that it may be, if it does not tell.
    var version = BlueZVersion.v5_66

    /// The last part of the path, such as `hci0`.
    var name: String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

extension Result where Failure == RegistrationStateMachine.Failure {
    fileprivate static func failure(_ message: String) -> Self {
        .failure(RegistrationStateMachine.Failure(code: .adapterUnavailable, message: message))
    }
}
