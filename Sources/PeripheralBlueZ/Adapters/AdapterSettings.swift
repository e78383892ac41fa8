/// The adapter settings that a peripheral requires.
///
/// The backend applies the settings before it registers the services. The settings stay in effect after the
/// run ends, except the alias ``Alias/ofPeripheral``. If a setting is `nil`, the backend leaves the adapter's
/// value unchanged.
public struct AdapterSettings: Hashable, Sendable {
    /// The Bluetooth name of the adapter, which BlueZ calls its alias.
    ///
    /// All programs share the alias. Centrals read it from the Generic Access service, and an iPhone shows
    /// it.
    public var alias: Alias

    /// Whether the backend powers on the adapter at the start of a run.
    ///
    /// If the adapter is powered off during the run, the framework does not power on the adapter again.
    public var powersOn: Bool

    /// Whether the adapter accepts new bonds.
    ///
    /// By default, the pairing method determines it. The framework makes the adapter pairable while centrals
    /// may pair, and not pairable otherwise. After the run, the adapter is as it was before. With
    /// `Pairing.none` and `Pairing.system`, the adapter stays as it is.
    ///
    /// A value of this setting replaces that rule. With `Pairing.system`, it is set only at the start of the
    /// run. With `false`, no central can bond. With `true`, the peripheral's agent still refuses centrals
    /// outside a pairing window.
    ///
    /// During the run, the framework undoes changes by other programs, and by the setting `PairableTimeout`
    /// of bluetoothd. If programs disagree, each run undoes only a few changes in 10 seconds, and the adapter
    /// stays pairable if one of the runs needs it. bluetoothd itself makes an adapter not pairable when the
    /// last agent ends, unless `AlwaysPairable` is set in its `main.conf`.
    public var isPairable: Bool?

    /// Creates settings.
    public init(alias: Alias = .ofPeripheral, powersOn: Bool = false, isPairable: Bool? = nil) {
        self.alias = alias
        self.powersOn = powersOn
        self.isPairable = isPairable
    }
}

extension AdapterSettings {
    /// The Bluetooth name of an adapter.
    public struct Alias: Hashable, Sendable, ExpressibleByStringLiteral {
        enum Choice: Hashable {
            case ofPeripheral, unchanged
            case named(String)
        }

        let choice: Choice

        /// The name of the peripheral during the run, if the adapter is free.
        ///
        /// The name is the one in the first connectable advertisement, also after
        /// `session.changeAdvertisement`. When the run ends, the adapter has its own name again. The alias
        /// stays unchanged in these cases:
        ///
        /// - The advertisement has no name.
        /// - A person or a program has chosen an alias. A person resets it with `bluetoothctl reset-alias`.
        /// - Another program advertises. If several peripherals share an adapter, the first one names it.
        ///
        /// bluetoothd stores the alias, so the alias outlasts a program that is killed. If the peripheral has
        /// a restoration identifier, the next run recognizes its alias, and removes it at the end.
        public static let ofPeripheral = Alias(choice: .ofPeripheral)

        /// The alias that the adapter has.
        public static let unchanged = Alias(choice: .unchanged)

        /// A name that the adapter keeps after the run.
        public static func named(_ name: String) -> Alias { Alias(choice: .named(name)) }

        private init(choice: Choice) { self.choice = choice }

        /// A name that the adapter keeps after the run.
        public init(stringLiteral name: String) { self = .named(name) }

        /// The name, if the program has chosen one.
        var name: String? {
            if case .named(let name) = choice { name } else { nil }
        }
    }
}
