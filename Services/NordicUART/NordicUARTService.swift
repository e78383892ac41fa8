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
/// The names of the characteristics are those of Nordic's documentation. The peripheral receives on RX, and
/// transmits on TX.
public struct NordicUARTService: GATTServiceDeclaration {
    /// RX, 6E400002: the bytes that centrals write.
    ///
    /// Centrals write with or without a response.
    public let rx: Characteristic<[UInt8]>

    /// TX, 6E400003: the bytes that are notified to centrals.
    public let tx: Characteristic<[UInt8]>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - capacity: The number of writes that can wait for the program, at least 1. `WriteStream` describes
    ///     the effect of a central that writes faster than the program reads.
    ///   - security: The security required to use the port. The default requires no security.
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

    /// Returns the port, which receives and sends.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Returns: The port. If you create several ports, each received byte is delivered to one port only.
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
