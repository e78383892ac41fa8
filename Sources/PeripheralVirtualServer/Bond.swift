internal import PeripheralCore
internal import PeripheralKit

/// The server's half of a bond with a central.
struct Bond: Sendable {
    var key: BondKey
    /// The security of a link that is encrypted with these keys.
    var level: SecurityLevel
    /// The central with its identity address; with the keys, the server recognizes it by any other address.
    var central: Central
    /// The configuration of Service Changed, which bluetoothd stores with the keys.
    var serviceChanged: UInt16 = 0
}

/// The central's half of a bond.
package struct BondKey: Hashable, Sendable {
    let number: Int
}
