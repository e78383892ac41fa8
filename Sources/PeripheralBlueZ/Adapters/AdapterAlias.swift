internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The alias of an adapter, and who has chosen it.
struct AdapterAlias: Hashable {
    /// The alias, which is the name of the adapter if no alias was chosen.
    var alias: String
    /// The name of the adapter in bluetoothd's configuration, such as the name of the host.
    var name: String
    /// The alias that this peripheral has chosen earlier; `nil` if there is none.
    var own: String?

    enum Claim: Hashable {
        /// The adapter has the wanted alias.
        case unnecessary
        /// The peripheral may set the alias, if no other program advertises.
        case possible
        /// A person or another program has chosen the alias.
        case impossible
    }

    /// Returns whether the peripheral may set an alias.
    func claim(of wanted: String) -> Claim {
        if alias == wanted { return .unnecessary }
        return alias == name || alias == own ? .possible : .impossible
    }

    /// Whether the alias is still the one that the peripheral has chosen.
    var isOwn: Bool { alias == own }

    init(alias: String, name: String, own: String?) {
        (self.alias, self.name, self.own) = (alias, name, own)
    }

    /// Creates the alias from the properties of an adapter; `nil` if bluetoothd does not report them.
    init?(_ adapter: BusValue, own: String?) {
        guard let alias = adapter["Alias"]?.string, let name = adapter["Name"]?.string else { return nil }
        self.init(alias: alias, name: name, own: own)
    }

    /// Returns the alias that a peripheral wants; `nil` if it has no name.
    ///
    /// bluetoothd accepts 247 bytes of UTF-8.
    static func wanted(by advertisements: [Advertisement]) -> String? {
        let name = advertisements.first { $0.kind == .connectable }?.localName ?? ""
        return name.isEmpty ? nil : String(name.longestPrefix(ofUTF8ByteCount: 247))
    }
}
