package import PeripheralKit
package import PeripheralNordicUART

/// A serial console over Bluetooth, which answers the lines of terminal apps.
///
/// It uses the UART service of Nordic Semiconductor, which such apps know.
package struct Console: GATTServiceDeclaration {
    /// The serial port.
    ///
    /// A central writes to `rx` and subscribes to `tx`.
    package let uart = NordicUARTService()

    private let answer: @Sendable (_ line: String) async -> String

    /// Declares the service.
    ///
    /// - Parameter answer: Returns the answer to a line.
    package init(answer: @escaping @Sendable (_ line: String) async -> String) {
        self.answer = answer
    }

    /// The service that centrals find.
    package var service: GATTService { uart.service }

    /// Answers the lines of all centrals, while the peripheral runs.
    package func run(in session: PeripheralSession) async throws {
        let port = try uart.port(in: session)
        for await line in port.lines {
            do {
                try await port.write(answer(line.text) + "\n", to: line.central)
            } catch let error as PeripheralError {
                // For example, the central has left, or has not subscribed. The others are still served.
                print("\(line.central) receives no answer: \(error)")
            }
        }
    }
}

extension Console {
    /// The peripheral that centrals find.
    ///
    /// With the identifier, its services keep their handles when the program restarts, also after an edit.
    package var peripheral: Peripheral {
        Peripheral("my-device", restorationIdentifier: "my-device") { self }
    }
}
