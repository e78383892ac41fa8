public import PeripheralKit
private import Synchronization

/// The Health Thermometer service, 0x1809, as defined by the Health Thermometer Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralHealthThermometer
/// import PeripheralKit
///
/// let thermometer = HealthThermometerService(type: .ear)
/// let peripheral = Peripheral("Thermometer", pairing: .justWorks) { thermometer }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await celsius in sensor.results {
///         let result = TemperatureMeasurement(celsius: MedicalFloat(celsius))
///         try await thermometer.indicate(result, in: session)
///     }
/// }
/// ```
public struct HealthThermometerService: GATTServiceDeclaration {
    /// The Temperature Measurement characteristic, 0x2A1C, which contains the final temperature of a
    /// measurement.
    ///
    /// Use ``indicate(_:in:)`` to send a final temperature.
    public let measurement: Characteristic<TemperatureMeasurement>

    /// The Temperature Type characteristic, 0x2A1D, which centrals read.
    ///
    /// The property is `nil` if the service does not declare a temperature type. If the property is `nil`,
    /// each measurement can contain a temperature type.
    public let type: Characteristic<TemperatureType>?

    /// The Intermediate Temperature characteristic, 0x2A1E, for temperatures during a measurement.
    ///
    /// Use ``notify(_:in:)`` to send an intermediate temperature.
    ///
    /// The property is `nil` if the thermometer does not send intermediate temperatures.
    public let intermediateTemperature: Characteristic<TemperatureMeasurement>?

    /// The Measurement Interval characteristic, 0x2A21, which contains the time between measurements in
    /// seconds.
    ///
    /// Centrals can read the interval and subscribe to its changes.
    ///
    /// If the interval is settable, centrals can write the interval.
    ///
    /// The property is `nil` if the thermometer does not measure at regular intervals.
    public let measurementInterval: Characteristic<UInt16>?

    private let keptInterval: KeptInterval?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - type: The place on the body where the thermometer measures the temperature. Pass `nil` if the
    ///     place on the body can change or is unknown.
    ///   - hasIntermediateTemperature: Whether the thermometer sends intermediate temperatures during a
    ///     measurement.
    ///   - interval: The time between measurements. Pass `nil` if the thermometer does not measure at regular
    ///     intervals.
    ///   - security: The security that centrals need to subscribe to the characteristics, and to read and
    ///     write the interval. Require at least encryption, because body temperature is health data. The
    ///     Health Thermometer Profile requires encryption.
    public init(
        type: TemperatureType? = nil,
        hasIntermediateTemperature: Bool = false,
        interval: Interval? = nil,
        security: AttributeSecurity = .encrypted
    ) {
        measurement = Characteristic(.temperatureMeasurement, .indicate, security: security)
        self.type = type.map { Characteristic(.temperatureType, value: $0) }
        intermediateTemperature =
            hasIntermediateTemperature
            ? Characteristic(.intermediateTemperature, .notify, security: security) : nil
        let kept = interval.map { KeptInterval($0.seconds) }
        keptInterval = kept
        measurementInterval =
            if let interval, let kept {
                interval.characteristic(kept, security)
            } else {
                nil
            }
    }

    /// Sends a final temperature to all subscribers, and waits for their confirmations.
    ///
    /// If the service declares a temperature type, the method omits the type from the measurement.
    ///
    /// - Parameters:
    ///   - value: The final temperature.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: Any error that `session.indicate` throws.
    public func indicate(_ value: TemperatureMeasurement, in session: PeripheralSession) async throws {
        try await session.indicate(measurement, limited(value))
    }

    /// Sends an intermediate temperature to all subscribers.
    ///
    /// If ``intermediateTemperature`` is `nil`, the method sends nothing. If the service declares a
    /// temperature type, the method omits the type from the measurement.
    ///
    /// - Parameters:
    ///   - value: The intermediate temperature.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: Any error that `session.notify` throws.
    public func notify(_ value: TemperatureMeasurement, in session: PeripheralSession) async throws {
        guard let intermediateTemperature else { return }
        try await session.notify(intermediateTemperature, limited(value))
    }

    private func limited(_ value: TemperatureMeasurement) -> TemperatureMeasurement {
        var value = value
        if type != nil { value.type = nil }
        return value
    }

    /// Changes the measurement interval, and indicates the new interval to all subscribers.
    ///
    /// The method has no effect if the service declares no interval, or if the new interval equals the
    /// current interval.
    ///
    /// - Parameters:
    ///   - seconds: The new interval in seconds. If the value is 0, the device does not measure periodically.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: Any error that `session.indicate` throws.
    public func updateInterval(to seconds: UInt16, in session: PeripheralSession) async throws {
        guard let measurementInterval, let keptInterval, keptInterval.replace(by: seconds) else { return }
        try await session.indicate(measurementInterval, seconds)
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.healthThermometer) {
            measurement
            if let type { type }
            if let intermediateTemperature { intermediateTemperature }
            if let measurementInterval { measurementInterval }
        }
    }
}

extension HealthThermometerService {
    /// The time between measurements (Health Thermometer Service 1.0, section 3.4).
    public struct Interval: Sendable {
        let seconds: UInt16
        private let range: ClosedRange<UInt16>?
        private let set: (@Sendable (UInt16) async throws -> Void)?

        /// Creates an interval that centrals can read.
        ///
        /// - Parameter seconds: The interval in seconds. If the value is 0, the device does not measure
        ///   periodically.
        /// - Returns: The interval.
        public static func fixed(_ seconds: UInt16) -> Interval {
            Interval(seconds: seconds, range: nil, set: nil)
        }

        /// Creates an interval that centrals can read and write.
        ///
        /// - Parameters:
        ///   - seconds: The initial interval in seconds. If the value is 0, the device does not measure
        ///     periodically.
        ///   - range: The range of the intervals that centrals can write. The service publishes the range in
        ///     a Valid Range descriptor. The service refuses an interval outside the range with
        ///     `ATTError.thermometerIntervalOutOfRange`.
        ///   - handler: Handles an interval that a central has written. If the handler throws an error, the
        ///     service refuses the interval.
        /// - Returns: The interval.
        public static func settable(
            _ seconds: UInt16,
            within range: ClosedRange<UInt16>,
            onSet handler: @escaping @Sendable (_ seconds: UInt16) async throws -> Void
        ) -> Interval {
            Interval(seconds: seconds, range: range, set: handler)
        }

        fileprivate func characteristic(
            _ kept: KeptInterval,
            _ security: AttributeSecurity
        ) -> Characteristic<UInt16> {
            guard let range, let set else {
                return Characteristic(.measurementInterval, [.read, .indicate], security: security) {
                    Read { kept.seconds }
                }
            }
            return Characteristic(
                .measurementInterval,
                [.read, .write, .indicate],
                security: security
            ) {
                Read { kept.seconds }
                Write { seconds in
                    guard range.contains(seconds) else { throw ATTError.thermometerIntervalOutOfRange }
                    try await set(seconds)
                    _ = kept.replace(by: seconds)
                }
                ValidRange(range)
            }
        }
    }
}

extension ATTError {
    /// The error for a measurement interval outside the valid range.
    ///
    /// The error code is 0x80, an application error that the Health Thermometer Service specification 1.0
    /// defines.
    public static let thermometerIntervalOutOfRange = ATTError(rawValue: 0x80)
}

/// The current interval, shared by the characteristic and the service.
private final class KeptInterval: Sendable {
    private let state: Mutex<UInt16>

    init(_ seconds: UInt16) {
        state = Mutex(seconds)
    }

    var seconds: UInt16 { state.withLock(\.self) }

    /// Replaces the interval, and returns whether it has changed.
    func replace(by seconds: UInt16) -> Bool {
        state.withLock { current in
            defer { current = seconds }
            return current != seconds
        }
    }
}
