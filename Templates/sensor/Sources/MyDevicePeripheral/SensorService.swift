package import PeripheralKit
import Synchronization

/// The service of the sensor: its characteristics, and the readings that it sends.
///
/// It has its own UUIDs, which are generated for each package.
package struct SensorService: GATTServiceDeclaration {
    /// The reading, which centrals read and subscribe to.
    package let reading = Characteristic<Int16>(
        "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .notify],
        updates: .latest
    )
    /// The time between two readings in milliseconds, which centrals can change, at least 10.
    package let period = Characteristic<UInt16>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write])
    /// The error for a period that is too short.
    ///
    /// A service can use 0x80 to 0x9F for its own errors. `BlueZBackend` lists the other errors that BlueZ
    /// can send.
    package static let periodTooShort = ATTError.application(.x80)

    private let measure: @Sendable () async throws -> Int16
    private let milliseconds = Setting(1000)

    /// Declares the service.
    ///
    /// - Parameter measure: Returns the current reading. Throwing refuses the central's request.
    package init(measure: @escaping @Sendable () async throws -> Int16) {
        self.measure = measure
    }

    /// The service that centrals find.
    package var service: GATTService {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
            reading {
                Read(measure)
                UserDescription("Reading")
            }
            period {
                Read { milliseconds.value }
                Write { value in
                    guard value >= 10 else { throw Self.periodTooShort }
                    milliseconds.value = value
                }
                UserDescription("Milliseconds between two readings")
            }
        }
    }

    /// Sends a reading to all subscribers in each period, while the peripheral runs.
    package func run(in session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: .milliseconds(milliseconds.value))
            try await session.notify(reading, measure())
        }
    }
}

extension SensorService {
    /// The peripheral that centrals find.
    ///
    /// With the identifier, its services keep their handles when the program restarts, also after an edit.
    package var peripheral: Peripheral {
        Peripheral("my-device", restorationIdentifier: "my-device") { self }
    }
}

/// A setting that request handlers and the sensor share.
private final class Setting: Sendable {
    private let state: Mutex<UInt16>

    init(_ value: UInt16) {
        state = Mutex(value)
    }

    var value: UInt16 {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
