public import PeripheralKit
public import PeripheralRecordAccess

/// The Pulse Oximeter service, 0x1822, of the Pulse Oximeter Service specification 1.0.1.
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
/// A device measures continuously, or now and then, or both. Single measurements are sent when they are made, or stored
/// until a central asks for them, at the Record Access Control Point.
public struct PulseOximeterService: GATTServiceDeclaration {
    /// What the values of a device may tell besides saturation and pulse rate.
    public struct Fields: OptionSet, Hashable, Sendable {
        /// The bits, which never leave the program.
        public let rawValue: UInt8

        /// Makes a set of fields.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The time, of single measurements.
        public static let time = Fields(rawValue: 1 << 0)
        /// Values that are faster to follow a change, of continuous measurements.
        public static let fast = Fields(rawValue: 1 << 1)
        /// Values that are slower to follow a change, of continuous measurements.
        public static let slow = Fields(rawValue: 1 << 2)
        /// The pulse amplitude index.
        public static let pulseAmplitudeIndex = Fields(rawValue: 1 << 3)
    }

    /// Single measurements that a device stores.
    public struct Store: Sendable {
        let records: @Sendable () async throws -> [SpotCheckMeasurement]
        let remove: @Sendable ([SpotCheckMeasurement]) async throws -> Void

        /// Describes the store.
        ///
        /// - Parameters:
        ///   - records: All measurements that are stored, the oldest first.
        ///   - remove: Deletes measurements when a central asks for it.
        public init(
            records: @escaping @Sendable () async throws -> [SpotCheckMeasurement],
            remove: @escaping @Sendable (_ measurements: [SpotCheckMeasurement]) async throws -> Void
        ) {
            self.records = records
            self.remove = remove
        }
    }

    /// The PLX Spot-Check Measurement, 0x2A5E, which centrals subscribe to; `nil` when there is none.
    public let spotCheck: Characteristic<SpotCheckMeasurement>?

    /// The PLX Continuous Measurement, 0x2A5F, which centrals subscribe to; `nil` when there is none.
    public let continuous: Characteristic<ContinuousMeasurement>?

    /// The PLX Features, 0x2A60, which centrals read.
    public let features: Characteristic<PulseOximeterFeatures>

    /// The Record Access Control Point, 0x2A52; `nil` when nothing is stored.
    public let recordAccess: Characteristic<RecordAccessResponse>?

    private let supported: PulseOximeterFeatures

    /// Declares a device that makes single measurements.
    ///
    /// - Parameters:
    ///   - spotCheck: What single measurements may tell; `[]` for nothing besides the values.
    ///   - continuous: What continuous measurements may tell; `nil` when the device makes none.
    ///   - status: How far the values are to be trusted: what may be told; `nil` when the device does not tell. What is
    ///     stored says so in any case.
    ///   - faults: What may be told of what is wrong; `nil` when the device does not tell.
    ///   - store: The single measurements that the device stores; `nil` when it stores none.
    ///   - supportsMultipleBonds: Whether several centrals can be bonded.
    ///   - security: What it takes to subscribe, and to write the control point.
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

    /// Declares a device that measures continuously, and makes no single measurements.
    ///
    /// - Parameters:
    ///   - continuous: What continuous measurements may tell; `[]` for nothing besides the values.
    ///   - status: How far the values are to be trusted: what may be told; `nil` when the device does not tell.
    ///   - faults: What may be told of what is wrong; `nil` when the device does not tell.
    ///   - supportsMultipleBonds: Whether several centrals can be bonded.
    ///   - security: What it takes to subscribe.
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
        let told = (single ?? []).intersection([.time, .pulseAmplitudeIndex])
            .union((continuous ?? []).intersection([.fast, .slow, .pulseAmplitudeIndex]))
        let supported = PulseOximeterFeatures(
            status: store == nil ? status : (status ?? []).union(.stored),
            faults: faults,
            storesMeasurements: store != nil,
            tellsTime: told.contains(.time),
            tellsFast: told.contains(.fast),
            tellsSlow: told.contains(.slow),
            tellsPulseAmplitudeIndex: told.contains(.pulseAmplitudeIndex),
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

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.pulseOximeter) {
            if let spotCheck { spotCheck }
            if let continuous { continuous }
            features
            if let recordAccess { recordAccess }
        }
    }

    /// Sends a continuous measurement to all who have subscribed, without what is not declared.
    ///
    /// - Throws: As `session.notify` does; nothing is sent when continuous measurements are not declared.
    public func notify(_ measurement: ContinuousMeasurement, in session: PeripheralSession) async throws {
        guard let continuous else { return }
        try await session.notify(continuous, measurement.supported(by: supported))
    }

    /// Sends a single measurement to all who have subscribed, without what is not declared, and waits until they have
    /// confirmed it.
    ///
    /// - Throws: As `session.indicate` does; nothing is sent when single measurements are not declared.
    public func indicate(_ measurement: SpotCheckMeasurement, in session: PeripheralSession) async throws {
        guard let spotCheck else { return }
        try await session.indicate(spotCheck, measurement.supported(by: supported, isStored: false))
    }
}

extension SpotCheckMeasurement {
    /// Leaves out what the features do not tell, and says of the rest whether it was stored.
    fileprivate func supported(by features: PulseOximeterFeatures, isStored: Bool) -> SpotCheckMeasurement {
        var measurement = self
        if !features.tellsTime { (measurement.time, measurement.isClockUnset) = (nil, false) }
        if !features.tellsPulseAmplitudeIndex { measurement.pulseAmplitudeIndex = nil }
        measurement.faults = features.faults.flatMap { faults?.intersection($0) }
        if isStored { measurement.status = (status ?? []).union(.stored) }
        measurement.status = features.status.flatMap { measurement.status?.intersection($0) }
        return measurement
    }
}

extension ContinuousMeasurement {
    /// Leaves out what the features do not tell.
    fileprivate func supported(by features: PulseOximeterFeatures) -> ContinuousMeasurement {
        var measurement = self
        if !features.tellsFast { measurement.fast = nil }
        if !features.tellsSlow { measurement.slow = nil }
        if !features.tellsPulseAmplitudeIndex { measurement.pulseAmplitudeIndex = nil }
        measurement.status = features.status.flatMap { status?.intersection($0) }
        measurement.faults = features.faults.flatMap { faults?.intersection($0) }
        return measurement
    }
}
