import PeripheralKit
import Synchronization

/// The sensor: its declaration, and the readings that it sends.
///
/// It has its own UUIDs, which are generated for each package.
final class MySensor: Sendable {
    /// The reading, which centrals read and subscribe to.
    let reading: Characteristic<Int16>
    /// The time between two readings in milliseconds, which centrals can change, at least 10.
    let period: Characteristic<UInt16>
    /// The error for a period that is too short.
    ///
    /// A service can use 0x80 to 0x9F for its own errors. `BlueZBackend` lists the other errors that BlueZ
    /// can send.
    static let periodTooShort = ATTError.application(.x80)
    /// The peripheral that centrals find.
    let peripheral: Peripheral

    private let milliseconds: Setting
    private let measure: @Sendable () async throws -> Int16

    /// Declares the sensor.
    ///
    /// - Parameter measure: Returns the current reading. Throwing refuses the central's request.
    init(measure: @escaping @Sendable () async throws -> Int16) {
        let milliseconds = Setting(1000)
        let reading = Characteristic<Int16>(
            "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001",
            [.read, .notify],
            updates: .latest
        ) {
            Read(measure)
            UserDescription("Reading")
        }
        let period = Characteristic<UInt16>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
            Read { milliseconds.value }
            Write { value in
                guard value >= 10 else { throw Self.periodTooShort }
                milliseconds.value = value
            }
            UserDescription("Milliseconds between two readings")
        }
        self.milliseconds = milliseconds
        self.reading = reading
        self.period = period
        self.measure = measure
        peripheral = Peripheral("my-sensor") {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
                reading
                period
            }
        }
    }

    /// Sends a reading to all subscribers in each period, until cancelled.
    func sendReadings(over session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: .milliseconds(milliseconds.value))
            try await session.notify(reading, measure())
        }
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
