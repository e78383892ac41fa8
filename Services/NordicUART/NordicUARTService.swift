public import PeripheralKit

/// Nordic's UART service, 6E400001-B5A3-F393-E0A9-E50E24DCCA9E: a serial port over the air.
///
/// Terminal apps for phones support it.
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
/// The names are those of Nordic's documentation, from the peripheral's side: the peripheral receives on RX,
/// and transmits on TX.
public struct NordicUARTService: GATTServiceDeclaration {
    /// RX, 6E400002: the bytes that centrals write, with or without a response.
    public let rx: Characteristic<[UInt8]>

    /// TX, 6E400003: the bytes that are notified to centrals.
    public let tx: Characteristic<[UInt8]>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - capacity: The number of writes that wait until the program takes them, at least 1. `WriteStream`
    ///     describes what happens when a central sends faster than the program takes writes.
    ///   - security: The security required to use the port. The default requires none.
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
    /// - Returns: The port. Several ports share the received bytes.
    /// - Throws: `PeripheralError` with the code `notDeclared` or `stopped`.
    public func port(in session: PeripheralSession) throws(PeripheralError) -> UARTPort {
        UARTPort(tx: tx, received: try session.writes(to: rx), session: session)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService("6E400001-B5A3-F393-E0A9-E50E24DCCA9E") {
            rx
            tx
        }
    }
}
