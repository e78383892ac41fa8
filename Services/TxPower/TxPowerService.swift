public import PeripheralKit

/// The Tx Power service, 0x1804, which publishes the transmit power of the device.
///
/// The published power is the transmit power during a connection.
///
/// The service implements the Tx Power Service specification 1.0. A central compares the power with the
/// received signal strength to estimate the distance to the device. The Proximity profile combines the Tx
/// Power service with the Immediate Alert and Link Loss services.
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
/// BlueZ does not report the transmit power of a connection. Use the transmit power that the manufacturer of
/// the radio specifies.
public struct TxPowerService: GATTServiceDeclaration {
    /// The Tx Power Level characteristic, 0x2A07, which centrals read.
    public let level: Characteristic<TxPowerLevel>

    /// Declares the service for a device with a constant transmit power.
    ///
    /// - Parameters:
    ///   - level: The transmit power.
    ///   - security: The security required to read the transmit power.
    public init(_ level: TxPowerLevel, security: AttributeSecurity = .open) {
        self.level = Characteristic(.txPowerLevel, value: level, security: security)
    }

    /// Declares the service for a device with a variable transmit power.
    ///
    /// The service calls the closure each time a central reads the power.
    ///
    /// - Parameters:
    ///   - security: The security required to read the transmit power.
    ///   - level: A closure that returns the transmit power for the connection to a central. If the closure
    ///     throws an error, the service refuses the read request.
    public init(
        security: AttributeSecurity = .open,
        level: @escaping @Sendable (_ central: Central) async throws -> TxPowerLevel
    ) {
        self.level = Characteristic(.txPowerLevel, .read, security: security) {
            Read(level)
        }
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.txPower) { level }
    }
}
