public import PeripheralKit
public import PeripheralRecordAccess

/// The Pulse Oximeter service, 0x1822, as defined by the Pulse Oximeter Service specification 1.0.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralPulseOximeter
///
/// let oximeter = PulseOximeterService(continuous: [.fast])
/// let peripheral = Peripheral("Oximeter", pairing: .justWorks) { oximeter }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await value in sensor.values {
///         let normal = OxygenSaturation(percent: .init(value.percent), pulseRate: .init(value.bpm))
///         try await oximeter.notify(ContinuousMeasurement(normal), in: session)
///     }
/// }
/// ```
///
/// A pulse oximeter performs continuous measurements, spot-check measurements, or both types of measurements.
/// The device sends a spot-check measurement immediately, or stores the measurement. Centrals request stored
/// measurements through the Record Access Control Point.
public struct PulseOximeterService: GATTServiceDeclaration {
    /// The values that a measurement contains in addition to oxygen saturation and pulse rate.
    public struct Fields: OptionSet, Hashable, Sendable {
        /// The bits that represent the fields.
        ///
        /// Only the program uses the bits. The service does not send the bits to centrals.
        public let rawValue: UInt8

        /// Creates a set of fields.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The time of a spot-check measurement.
        public static let time = Fields(rawValue: 1 << 0)
        /// The continuous values that the device calculates in its fast mode.
        ///
        /// In the fast mode, the values react to changes more quickly than in the normal mode.
        public static let fast = Fields(rawValue: 1 << 1)
        /// The continuous values that the device calculates in its slow mode.
        ///
        /// In the slow mode, the values react to changes more slowly than in the normal mode.
        public static let slow = Fields(rawValue: 1 << 2)
        /// The pulse amplitude index.
        public static let pulseAmplitudeIndex = Fields(rawValue: 1 << 3)
    }

    /// The spot-check measurements that a device stores.
    public struct Store: Sendable {
        let records: @Sendable () async throws -> [SpotCheckMeasurement]
        let remove: @Sendable ([SpotCheckMeasurement]) async throws -> Void

        /// Describes the store.
        ///
        /// - Parameters:
        ///   - records: Returns all stored measurements, from oldest to newest.
        ///   - remove: Deletes the measurements that a central selects.
        public init(
            records: @escaping @Sendable () async throws -> [SpotCheckMeasurement],
            remove: @escaping @Sendable (_ measurements: [SpotCheckMeasurement]) async throws -> Void
        ) {
            self.records = records
            self.remove = remove
        }
    }

    /// The PLX Spot-Check Measurement characteristic, 0x2A5E, which centrals subscribe to.
    ///
    /// The property is `nil` if the service does not declare spot-check measurements.
    public let spotCheck: Characteristic<SpotCheckMeasurement>?

    /// The PLX Continuous Measurement characteristic, 0x2A5F, which centrals subscribe to.
    ///
    /// The property is `nil` if the service does not declare continuous measurements.
    public let continuous: Characteristic<ContinuousMeasurement>?

    /// The PLX Features characteristic, 0x2A60, which centrals read.
    public let features: Characteristic<PulseOximeterFeatures>

    /// The Record Access Control Point characteristic, 0x2A52.
    ///
    /// The property is `nil` if the device stores no measurements.
    public let recordAccess: Characteristic<RecordAccessResponse>?

    private let supported: PulseOximeterFeatures

    /// Declares a service for a device that performs spot-check measurements.
    ///
    /// - Parameters:
    ///   - spotCheck: The additional values in spot-check measurements. Use `[]` if spot-check measurements
    ///     contain no additional values.
    ///   - continuous: The additional values in continuous measurements. Use `nil` if the device performs no
    ///     continuous measurements.
    ///   - status: The status bits that the device can send. Use `nil` if the device sends no status. The
    ///     status of stored measurements always contains ``PulseOximeterStatus/stored``.
    ///   - faults: The device and sensor faults that the device can report. Use `nil` if the device reports
    ///     no faults.
    ///   - store: The spot-check measurements that the device stores. Use `nil` if the device stores no
    ///     measurements.
    ///   - supportsMultipleBonds: Whether the device supports bonds with several centrals.
    ///   - security: The security required to subscribe to a characteristic, and to write to the Record
    ///     Access Control Point.
    public init(
        spotCheck: Fields,
        continuous: Fields? = nil,
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        store: Store? = nil,
        supportsMultipleBonds: Bool = false,
        security: AttributeSecurity = .encrypted
    ) {
        self.init(
            single: spotCheck,
            continuous: continuous,
            status: status,
            faults: faults,
            store: store,
            supportsMultipleBonds: supportsMultipleBonds,
            security: security
        )
    }

    /// Declares a service for a device that performs only continuous measurements.
    ///
    /// - Parameters:
    ///   - continuous: The additional values in continuous measurements. Use `[]` if continuous measurements
    ///     contain no additional values.
    ///   - status: The status bits that the device can send. Use `nil` if the device sends no status.
    ///   - faults: The device and sensor faults that the device can report. Use `nil` if the device reports
    ///     no faults.
    ///   - supportsMultipleBonds: Whether the device supports bonds with several centrals.
    ///   - security: The security required to subscribe to the measurements.
    public init(
        continuous: Fields,
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        supportsMultipleBonds: Bool = false,
        security: AttributeSecurity = .encrypted
    ) {
        self.init(
            single: nil,
            continuous: continuous,
            status: status,
            faults: faults,
            store: nil,
            supportsMultipleBonds: supportsMultipleBonds,
            security: security
        )
    }

    private init(
        single: Fields?,
        continuous: Fields?,
        status: PulseOximeterStatus?,
        faults: PulseOximeterFaults?,
        store: Store?,
        supportsMultipleBonds: Bool,
        security: AttributeSecurity
    ) {
        let reported = (single ?? []).intersection([.time, .pulseAmplitudeIndex])
            .union((continuous ?? []).intersection([.fast, .slow, .pulseAmplitudeIndex]))
        let supported = PulseOximeterFeatures(
            status: store == nil ? status : (status ?? []).union(.stored),
            faults: faults,
            storesMeasurements: store != nil,
            reportsTime: reported.contains(.time),
            reportsFast: reported.contains(.fast),
            reportsSlow: reported.contains(.slow),
            reportsPulseAmplitudeIndex: reported.contains(.pulseAmplitudeIndex),
            supportsMultipleBonds: supportsMultipleBonds
        )
        let spotCheck = single.map { _ in
            Characteristic<SpotCheckMeasurement>(.plxSpotCheckMeasurement, .indicate, security: security)
        }
        self.supported = supported
        self.spotCheck = spotCheck
        self.continuous = continuous.map { _ in
            Characteristic(.plxContinuousMeasurement, .notify, security: security)
        }
        features = Characteristic(.plxFeatures, value: supported)
        recordAccess = store.flatMap { store in
            spotCheck.map { spotCheck in
                RecordAccess(
                    records: store.records,
                    remove: store.remove,
                    hasEnds: false,
                    reportedBy: spotCheck,
                    report: { measurement, central, session in
                        try await session.indicate(
                            spotCheck,
                            measurement.supported(by: supported, isStored: true),
                            to: central
                        )
                    }
                )
                .characteristic(security: security)
            }
        }
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.pulseOximeter) {
            if let spotCheck { spotCheck }
            if let continuous { continuous }
            features
            if let recordAccess { recordAccess }
        }
    }

    /// Sends a continuous measurement to all subscribers.
    ///
    /// The method omits values that the service does not declare.
    ///
    /// If the service does not declare continuous measurements, the method has no effect.
    ///
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ measurement: ContinuousMeasurement, in session: PeripheralSession) async throws {
        guard let continuous else { return }
        try await session.notify(continuous, measurement.supported(by: supported))
    }

    /// Sends a spot-check measurement to all subscribers, and waits for the confirmations of the subscribers.
    ///
    /// The method omits values that the service does not declare. If the service does not declare spot-check
    /// measurements, the method has no effect.
    ///
    /// - Throws: The errors that `session.indicate` throws.
    public func indicate(_ measurement: SpotCheckMeasurement, in session: PeripheralSession) async throws {
        guard let spotCheck else { return }
        try await session.indicate(spotCheck, measurement.supported(by: supported, isStored: false))
    }
}

extension SpotCheckMeasurement {
    /// Removes values that are not in the features, and marks a stored measurement as stored.
    fileprivate func supported(by features: PulseOximeterFeatures, isStored: Bool) -> SpotCheckMeasurement {
        var measurement = self
        if !features.reportsTime { (measurement.time, measurement.isClockUnset) = (nil, false) }
        if !features.reportsPulseAmplitudeIndex { measurement.pulseAmplitudeIndex = nil }
        measurement.faults = features.faults.flatMap { faults?.intersection($0) }
        if isStored { measurement.status = (status ?? []).union(.stored) }
        measurement.status = features.status.flatMap { measurement.status?.intersection($0) }
        return measurement
    }
}

extension ContinuousMeasurement {
    /// Removes values that are not in the features.
    fileprivate func supported(by features: PulseOximeterFeatures) -> ContinuousMeasurement {
        var measurement = self
        if !features.reportsFast { measurement.fast = nil }
        if !features.reportsSlow { measurement.slow = nil }
        if !features.reportsPulseAmplitudeIndex { measurement.pulseAmplitudeIndex = nil }
        measurement.status = features.status.flatMap { status?.intersection($0) }
        measurement.faults = features.faults.flatMap { faults?.intersection($0) }
        return measurement
    }
}
