internal import PeripheralCore
internal import PeripheralKit

/// The keys that the server and a central have made when they bonded.
struct Bond: Sendable {
    var key: BondKey
    /// What a link offers that is encrypted by them.
    var level: SecurityLevel
    /// The central, by the lasting address that it has shown; with the keys, the server recognises it by any other.
    var central: Central
    /// The configuration of Service Changed, which bluetoothd stores with the keys.
    var serviceChanged: UInt16 = 0
}

/// The central's half of a bond.
package struct BondKey: Hashable, Sendable {
    let number: Int
}
