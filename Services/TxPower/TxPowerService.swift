public import PeripheralKit

/// The Tx Power service, 0x1804, of the Tx Power Service specification 1.0: how strongly the device transmits while it
/// is connected.
///
/// A central that knows it, and how much of it arrives, concludes how far away the device is; the Proximity profile
/// has the service beside Immediate Alert and Link Loss.
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
/// BlueZ does not tell the power of a connection: it is what the maker of the radio says.
public struct TxPowerService: GATTServiceDeclaration {
    /// The Tx Power Level, 0x2A07, which centrals read.
    public let level: Characteristic<TxPowerLevel>

    /// Declares the service of a device that always transmits with the same power.
    ///
    /// - Parameters:
    ///   - level: The power.
    ///   - security: What it takes to read it.
    public init(_ level: TxPowerLevel, security: AttributeSecurity = .open) {
        self.level = Characteristic(.txPowerLevel, value: level, security: security)
    }

    /// Declares the service, which asks for the power each time that a central reads it.
    ///
    /// - Parameters:
    ///   - security: What it takes to read it.
    ///   - level: Tells the power of the connection to a central. Throwing refuses the central's request.
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
