public import PeripheralKit

/// The Tx Power service, 0x1804: the transmit power of the device during a connection.
///
/// It implements the Tx Power Service specification 1.0. A central compares the power with the received
/// signal strength to estimate the distance to the device. The Proximity profile combines the service with
/// Immediate Alert and Link Loss.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralTxPower
///
/// let peripheral = Peripheral("Tag") {
///     TxPowerService(TxPowerLevel(dBm: 4))
/// }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// BlueZ does not report the power of a connection. Use the value that the maker of the radio states.
public struct TxPowerService: GATTServiceDeclaration {
    /// The Tx Power Level, 0x2A07, which centrals read.
    public let level: Characteristic<TxPowerLevel>

    /// Declares the service of a device that always transmits with the same power.
    ///
    /// - Parameters:
    ///   - level: The power.
    ///   - security: The security required to read it.
    public init(_ level: TxPowerLevel, security: AttributeSecurity = .open) {
        self.level = Characteristic(.txPowerLevel, value: level, security: security)
    }

    /// Declares the service, which calls a closure each time a central reads the power.
    ///
    /// - Parameters:
    ///   - security: The security required to read it.
    ///   - level: Returns the transmit power of the connection to a central. Throwing refuses the central's
    ///     request.
    public init(
        security: AttributeSecurity = .open,
        level: @escaping @Sendable (_ central: Central) async throws -> TxPowerLevel
    ) {
        self.level = Characteristic(.txPowerLevel, .read, security: security) {
            Read(level)
        }
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.txPower) { level }
    }
}
