internal import PeripheralCore
internal import PeripheralDBus

/// The facts that all parts of ``Centrals`` read: the characteristics, the adapter and the running
/// bluetoothd.
///
/// Belongs to the event loop.
final class CentralsContext {
    let characteristics: [AttributeHandle: Centrals.Characteristic]
    /// The path of the adapter; `nil` until it is chosen.
    private(set) var adapter: ObjectPath?
    private(set) var abilities = Centrals.Abilities(of: .v5_66)

    init(characteristics: [AttributeHandle: Centrals.Characteristic]) {
        self.characteristics = characteristics
    }

    func setAdapter(_ adapter: ObjectPath) {
        self.adapter = adapter
    }

    func setAbilities(_ abilities: Centrals.Abilities) {
        self.abilities = abilities
    }

    /// Whether centrals may ask for indications of a characteristic.
    func isIndicated(_ characteristic: AttributeHandle) -> Bool {
        characteristics[characteristic]?.isIndicated == true
    }

    /// The security that a characteristic demands of its subscribers' links; `nil` for none.
    func notifySecurity(of characteristic: AttributeHandle) -> SecurityLevel? {
        characteristics[characteristic].map(\.security).flatMap { $0 > .open ? $0 : nil }
    }
}
