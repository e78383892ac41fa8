public import PeripheralKit

/// The UART service of Nordic Semiconductor: a serial port over Bluetooth LE.
///
/// The UUID of the service is 6E400001-B5A3-F393-E0A9-E50E24DCCA9E.
///
/// Terminal apps for phones support this service.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralNordicUART
///
/// let uart = NordicUARTService()
/// let peripheral = Peripheral("Console") { uart }
///
/// try await peripheral.run(on: .bluez) { session in
///     let port = try uart.port(in: session)
///     for await line in port.lines {
///         try await port.write("You have said \(line.text).\n", to: line.central)
///     }
/// }
/// ```
///
/// Nordic Semiconductor's documentation defines the names of the characteristics. The peripheral receives
/// bytes on RX, and sends bytes on TX.
public struct NordicUARTService: GATTServiceDeclaration {
    /// The RX characteristic, 6E400002, which receives the bytes that centrals write.
    ///
    /// Centrals can write to RX with or without a response.
    public let rx: Characteristic<[UInt8]>

    /// The TX characteristic, 6E400003, which sends bytes to centrals as notifications.
    public let tx: Characteristic<[UInt8]>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of unread writes that the peripheral stores. The minimum capacity is
    ///     1. The documentation of `WriteStream` explains what happens if a central writes faster than the
    ///     program reads.
    ///   - security: The security required to use the serial port. The default requires no security.
    public init(capacity: Int = 64, security: AttributeSecurity = .open) {
        rx = Characteristic(
            "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
            [.write, .writeWithoutResponse],
            security: security
        ) {
            WriteStream(capacity: capacity)
        }
        tx = Characteristic(
            "6E400003-B5A3-F393-E0A9-E50E24DCCA9E",
            .notify,
            security: security
        )
    }

    /// Returns the serial port, which receives and sends bytes.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the service.
    /// - Returns: The port. If you create several ports, each byte reaches only one of the ports.
    /// - Throws: `PeripheralError` with the code `notDeclared` or `stopped`.
    public func port(in session: PeripheralSession) throws(PeripheralError) -> UARTPort {
        UARTPort(tx: tx, received: try session.writes(to: rx), session: session)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService("6E400001-B5A3-F393-E0A9-E50E24DCCA9E") {
            rx
            tx
        }
    }
}
