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
///         try await thermometer.indicate(TemperatureMeasurement(celsius: MedicalFloat(celsius)), in: session)
///     }
/// }
/// ```
public struct HealthThermometerService: GATTServiceDeclaration {
    /// The Temperature Measurement, 0x2A1C: results, which are indicated; sent by ``indicate(_:in:)``.
    public let measurement: Characteristic<TemperatureMeasurement>

    /// The Temperature Type, 0x2A1D, which centrals read; `nil` when each measurement tells for itself, or none does.
    public let type: Characteristic<TemperatureType>?

    /// The Intermediate Temperature, 0x2A1E: values before the result, which are notified, by ``notify(_:in:)``; `nil` when
    /// there are none.
    public let intermediateTemperature: Characteristic<TemperatureMeasurement>?

    /// The Measurement Interval, 0x2A21, in seconds, which centrals read and subscribe to, and write where it can be set;
    /// `nil` when the thermometer does not measure regularly.
    public let measurementInterval: Characteristic<UInt16>?

    private let keptInterval: KeptInterval?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - type: Where the temperature is taken, when that is always the same place.
    ///   - hasIntermediateTemperature: Whether values are sent before the result.
    ///   - interval: How often the thermometer measures; `nil` when it does not measure regularly.
    ///   - security: What it takes to subscribe, and to read and set the interval. The temperature of a body is a matter of
    ///     health: leave it encrypted at least, as the Health Thermometer Profile demands.
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

    /// Sends a result to the centrals that have subscribed, and waits until they have confirmed it.
    ///
    /// Where the service tells the ``type`` for all, that of the measurement is left out.
    ///
    /// - Parameters:
    ///   - value: The result.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.indicate` does.
    public func indicate(_ value: TemperatureMeasurement, in session: PeripheralSession) async throws {
        try await session.indicate(measurement, limited(value))
    }

    /// Sends a value before the result to the centrals that have subscribed; nothing when such values are not declared.
    ///
    /// Where the service tells the ``type`` for all, that of the measurement is left out.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func notify(_ value: TemperatureMeasurement, in session: PeripheralSession) async throws {
        guard let intermediateTemperature else { return }
        try await session.notify(intermediateTemperature, limited(value))
    }

    private func limited(_ value: TemperatureMeasurement) -> TemperatureMeasurement {
        var value = value
        if type != nil { value.type = nil }
        return value
    }

    /// Changes how often the thermometer says that it measures, and tells the centrals that have subscribed.
    ///
    /// - Parameters:
    ///   - seconds: The new interval; 0 for no regular measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.indicate` does; without effect for a thermometer without interval.
    public func updateInterval(to seconds: UInt16, in session: PeripheralSession) async throws {
        guard let measurementInterval, let keptInterval, keptInterval.replace(by: seconds) else { return }
        try await session.indicate(measurementInterval, seconds)
    }

    /// The service as it is published.
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
    /// How often a thermometer measures (Health Thermometer Service 1.0, section 3.4).
    public struct Interval: Sendable {
        let seconds: UInt16
        private let range: ClosedRange<UInt16>?
        private let set: (@Sendable (UInt16) async throws -> Void)?

        /// An interval that centrals read.
        ///
        /// - Parameter seconds: The interval; 0 for no regular measurement.
        /// - Returns: The interval.
        public static func fixed(_ seconds: UInt16) -> Interval {
            Interval(seconds: seconds, range: nil, set: nil)
        }

        /// An interval that centrals read and write.
        ///
        /// - Parameters:
        ///   - seconds: The interval at first; 0 for no regular measurement.
        ///   - range: What centrals may write, which is also told by a Valid Range descriptor; all else is refused by
        ///     `ATTError.thermometerIntervalOutOfRange`.
        ///   - handler: Takes what a central has written. Throwing refuses it.
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
    /// The answer to an interval that the thermometer does not take: the application error 0x80 of the Health Thermometer
    /// Service specification 1.0.
    public static let thermometerIntervalOutOfRange = ATTError(rawValue: 0x80)
}

/// The interval, shared by those who read it and those who change it.
private final class KeptInterval: Sendable {
    private let state: Mutex<UInt16>

    init(_ seconds: UInt16) {
        state = Mutex(seconds)
    }

    var seconds: UInt16 { state.withLock(\.self) }

    /// Tells whether it has changed.
    func replace(by seconds: UInt16) -> Bool {
        state.withLock { current in
            defer { current = seconds }
            return current != seconds
        }
    }
}
