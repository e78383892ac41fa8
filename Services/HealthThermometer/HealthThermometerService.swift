public import PeripheralKit
private import Synchronization

/// The Health Thermometer service, 0x1809, of the Health Thermometer Service specification 1.0.
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
    /// The Temperature Measurement, 0x2A1C, which contains a result.
    ///
    /// Use ``indicate(_:in:)`` to send a result.
    public let measurement: Characteristic<TemperatureMeasurement>

    /// The Temperature Type, 0x2A1D, which centrals read.
    ///
    /// The property is `nil` if the service does not declare a type. Each measurement may then contain its
    /// own type.
    public let type: Characteristic<TemperatureType>?

    /// The Intermediate Temperature, 0x2A1E, which contains a value before the result.
    ///
    /// Use ``notify(_:in:)`` to send the value.
    ///
    /// The property is `nil` if the thermometer does not send intermediate values.
    public let intermediateTemperature: Characteristic<TemperatureMeasurement>?

    /// The Measurement Interval, 0x2A21, in seconds, which centrals read and subscribe to.
    ///
    /// Centrals can also write a settable interval. The property is `nil` if the thermometer does not measure
    /// regularly.
    public let measurementInterval: Characteristic<UInt16>?

    private let keptInterval: KeptInterval?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - type: The place on the body where the thermometer measures; `nil` if the place can change, or if
    ///     the place is unknown.
    ///   - hasIntermediateTemperature: Whether the thermometer sends values before the result.
    ///   - interval: The time between measurements; `nil` if the thermometer does not measure regularly.
    ///   - security: The security required to subscribe, and to read and set the interval. Require at least
    ///     encryption, because body temperature is health data. The Health Thermometer Profile also requires
    ///     encryption.
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

    /// Sends a result to all subscribers, and waits for their confirmations.
    ///
    /// If the service declares the ``type``, the type of the measurement is not sent.
    ///
    /// - Parameters:
    ///   - value: The result.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.indicate`.
    public func indicate(_ value: TemperatureMeasurement, in session: PeripheralSession) async throws {
        try await session.indicate(measurement, limited(value))
    }

    /// Sends a value before the result to all subscribers.
    ///
    /// If the service does not declare intermediate values, nothing is sent. If the service declares the
    /// ``type``, the type of the measurement is not sent.
    ///
    /// - Parameters:
    ///   - value: The value before the result.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
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
    /// Nothing happens if the service declares no interval, or if the interval is unchanged.
    ///
    /// - Parameters:
    ///   - seconds: The new interval in seconds; 0 for no regular measurements.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.indicate`.
    public func updateInterval(to seconds: UInt16, in session: PeripheralSession) async throws {
        guard let measurementInterval, let keptInterval, keptInterval.replace(by: seconds) else { return }
        try await session.indicate(measurementInterval, seconds)
    }

    /// The service that the peripheral publishes.
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
        /// - Parameter seconds: The interval in seconds; 0 for no regular measurements.
        /// - Returns: The interval.
        public static func fixed(_ seconds: UInt16) -> Interval {
            Interval(seconds: seconds, range: nil, set: nil)
        }

        /// Creates an interval that centrals can read and write.
        ///
        /// - Parameters:
        ///   - seconds: The initial interval in seconds; 0 for no regular measurements.
        ///   - range: The intervals that centrals may write. A Valid Range descriptor contains the range. An
        ///     interval out of range is refused with `ATTError.thermometerIntervalOutOfRange`.
        ///   - handler: Handles an interval that a central has written. If the handler throws an error, the
        ///     interval is refused.
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
    /// The error for an interval out of range.
    ///
    /// The code is the application error 0x80 of the Health Thermometer Service specification 1.0.
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
