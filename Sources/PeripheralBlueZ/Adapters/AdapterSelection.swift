public import PeripheralCore
internal import PeripheralKit

/// Which Bluetooth adapter a peripheral appears on.
public struct AdapterSelection: Sendable, ExpressibleByStringLiteral {
    private enum Rule {
        case firstPowered
        case named(String)
        case address(DeviceAddress)
        case matching(@Sendable (AdapterDescription) -> Bool)
    }

    private let rule: Rule

    /// The first adapter that is powered on.
    public static let firstPowered = AdapterSelection(rule: .firstPowered)

    /// The adapter with a name such as `hci0`.
    ///
    /// The kernel gives the names in the order in which adapters come: one that is unplugged may come back under
    /// another. An address stays.
    public static func named(_ name: String) -> AdapterSelection {
        AdapterSelection(rule: .named(name))
    }

    /// The adapter with this address, whatever its name.
    public static func address(_ address: DeviceAddress) -> AdapterSelection {
        AdapterSelection(rule: .address(address))
    }

    /// The first adapter that the condition holds for, in the order of bluetoothd.
    ///
    /// - Parameter condition: Asked again whenever an adapter comes, goes, or is powered on or off.
    /// - Returns: The selection.
    public static func first(where condition: @escaping @Sendable (AdapterDescription) -> Bool)
        -> AdapterSelection
    {
        AdapterSelection(rule: .matching(condition))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// The adapter with this name.
    public init(stringLiteral name: String) {
        self = .named(name)
    }
}

extension AdapterSelection {
    typealias Failure = RegistrationStateMachine.Failure

    /// The adapter to use.
    ///
    /// - Parameters:
    ///   - adapters: Those that there are.
    ///   - powersOn: Whether one that is off can be powered on.
    /// - Returns: The adapter, or why there is none.
    func choose(
        from adapters: [AdapterDescription],
        powersOn: Bool = false
    ) -> Result<AdapterDescription, Failure> {
        guard !adapters.isEmpty else {
            return .failure(
                "bluetoothd knows no Bluetooth adapter; plug one in, or look with 'bluetoothctl list' and 'rfkill'."
            )
        }
        switch rule {
        case .firstPowered:
            let usable = adapters.filter(\.isUsable)
            if let adapter = usable.first(where: \.isPowered) { return .success(adapter) }
            if powersOn, let adapter = usable.first { return .success(adapter) }
            guard usable.isEmpty else {
                return .failure(.poweredOff("No Bluetooth adapter is powered on"))
            }
            return .failure("No Bluetooth adapter can be a Bluetooth LE peripheral; use another adapter.")
        case .named(let name):
            return find("\(name)", in: adapters, powersOn) { $0.name == name }
        case .address(let address):
            return find("\(address)", in: adapters, powersOn) { $0.address == address }
        case .matching(let condition):
            return find("that the program asks for", in: adapters, powersOn, condition)
        }
    }

    private func find(
        _ demand: String,
        in adapters: [AdapterDescription],
        _ powersOn: Bool,
        _ isMeant: (AdapterDescription) -> Bool
    ) -> Result<AdapterDescription, Failure> {
        guard let adapter = adapters.first(where: isMeant) else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return .failure("There is no Bluetooth adapter \(demand); there is \(names).")
        }
        let name = adapter.name
        guard adapter.isUsable else {
            return .failure(
                "The Bluetooth adapter \(name) cannot be a Bluetooth LE peripheral; use another adapter."
            )
        }
        guard adapter.isPowered || powersOn else {
            return .failure(.poweredOff("The Bluetooth adapter \(name) is powered off"))
        }
        return .success(adapter)
    }
}

extension Result where Failure == RegistrationStateMachine.Failure {
    fileprivate static func failure(_ message: String) -> Self {
        .failure(Failure(code: .adapterUnavailable, message: message))
    }
}
