internal import PeripheralCore
internal import PeripheralDBus

/// The facts that all parts of ``Centrals`` read.
///
/// These are the characteristics, the adapter and the running bluetoothd. The context belongs to the event
/// loop.
final class CentralsContext {
    private(set) var characteristics: [AttributeHandle: Centrals.Characteristic] = [:]
    /// The path of the adapter; `nil` until an adapter is chosen.
    private(set) var adapter: ObjectPath?
    private(set) var abilities = Centrals.Abilities(of: .v5_66)

    func add(_ characteristics: [AttributeHandle: Centrals.Characteristic]) {
        self.characteristics.merge(characteristics) { $1 }
    }

    func remove(_ removed: [AttributeHandle]) {
        for characteristic in removed { characteristics[characteristic] = nil }
    }

    /// Returns the handle on the air of a characteristic; `nil` if bluetoothd has not reported it.
    func onAir(_ characteristic: AttributeHandle) -> AttributeHandle? {
        characteristics[characteristic]?.handles?.onAir(characteristic)
    }

    func setAdapter(_ adapter: ObjectPath) {
        self.adapter = adapter
    }

    func setAbilities(_ abilities: Centrals.Abilities) {
        self.abilities = abilities
    }

    /// Returns whether centrals may request indications of a characteristic.
    func isIndicated(_ characteristic: AttributeHandle) -> Bool {
        characteristics[characteristic]?.isIndicated == true
    }

    /// Returns the security that a characteristic requires of its subscribers' links; `nil` for none.
    func notifySecurity(of characteristic: AttributeHandle) -> SecurityLevel? {
        characteristics[characteristic].map(\.security).flatMap { $0 > .open ? $0 : nil }
    }
}
