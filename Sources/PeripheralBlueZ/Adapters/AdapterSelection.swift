public import PeripheralCore
internal import PeripheralKit

/// The Bluetooth adapter that a peripheral uses.
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

    /// The adapter with the given kernel name, such as `hci0`.
    ///
    /// The kernel assigns adapter names in the order of detection. If an adapter is unplugged and plugged in
    /// again, the name of the adapter can change. The address of the adapter stays the same.
    public static func named(_ name: String) -> AdapterSelection {
        AdapterSelection(rule: .named(name))
    }

    /// The adapter with the given address, regardless of the adapter's name.
    public static func address(_ address: DeviceAddress) -> AdapterSelection {
        AdapterSelection(rule: .address(address))
    }

    /// The first adapter that satisfies the given condition.
    ///
    /// The backend examines the adapters in the order of bluetoothd's list.
    ///
    /// - Parameter condition: A closure that returns `true` if the peripheral can use the given adapter. The
    ///   backend calls the closure again whenever an adapter appears, disappears, or is powered on or off.
    /// - Returns: The selection.
    public static func first(where condition: @escaping @Sendable (AdapterDescription) -> Bool)
        -> AdapterSelection
    {
        AdapterSelection(rule: .matching(condition))
    }

    private init(rule: Rule) {
        self.rule = rule
    }

    /// The adapter with the given kernel name.
    public init(stringLiteral name: String) {
        self = .named(name)
    }
}

extension AdapterSelection {
    typealias Failure = RegistrationStateMachine.Failure

    /// Chooses the adapter to use.
    ///
    /// - Parameters:
    ///   - adapters: The adapters that bluetoothd has.
    ///   - powersOn: Whether the backend can power on an adapter that is off.
    /// - Returns: The adapter, or the reason why there is none.
    func choose(
        from adapters: [AdapterDescription],
        powersOn: Bool = false
    ) -> Result<AdapterDescription, Failure> {
        guard !adapters.isEmpty else {
            return .failure(
                "bluetoothd has no Bluetooth adapter. Plug one in, or run 'bluetoothctl list' and 'rfkill'."
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
            return .failure(
                "No Bluetooth adapter supports the Bluetooth LE peripheral role. Use another adapter."
            )
        case .named(let name):
            return check(adapters.first { $0.name == name }, "\(name)", of: adapters, powersOn)
        case .address(let address):
            return check(adapters.first { $0.address == address }, "\(address)", of: adapters, powersOn)
        case .matching(let isMeant):
            let adapter = adapters.first(where: isMeant)
            return check(adapter, "that satisfies the program's condition", of: adapters, powersOn)
        }
    }

    private func check(
        _ adapter: AdapterDescription?,
        _ demand: String,
        of adapters: [AdapterDescription],
        _ powersOn: Bool
    ) -> Result<AdapterDescription, Failure> {
        guard let adapter else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return .failure("There is no Bluetooth adapter \(demand). The available adapters are: \(names).")
        }
        let name = adapter.name
        guard adapter.isUsable else {
            return .failure(
                "The Bluetooth adapter \(name) does not support the Bluetooth LE peripheral role. Use another adapter."
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
