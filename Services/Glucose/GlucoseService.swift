public import PeripheralKit
public import PeripheralRecordAccess

/// The Glucose service, 0x1808, as defined by the Glucose Service specification 1.0.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralGlucose
/// import PeripheralKit
///
/// let glucose = GlucoseService(
///     records: { await meter.records },
///     remove: { await meter.remove($0) },
///     detecting: [.batteryLow, .resultTooHigh, .resultTooLow]
/// )
/// let peripheral = Peripheral(
///     "Meter", pairing: .displayPasskey { key, _ in await meter.show(key) }
/// ) { glucose }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// A glucose meter stores measurements. A central requests the stored measurements through the Record Access
/// Control Point. A central can request all records, the first record, the last record, or a range of
/// records. The bounds of a range are sequence numbers or user-facing times. A user-facing time is the time
/// that the meter displays to the user.
///
/// The service rejects a request in the following cases:
///
/// - If the central has not subscribed to the measurements, the service responds with
///   `ATTError.glucoseNotSubscribed`.
/// - If another request of the central is in progress, the service responds with
///   `ATTError.glucoseProcedureInProgress`.
///
/// With some Bluetooth stacks, the service sends records only while exactly one central is subscribed to the
/// measurements. For details, see the documentation of `RecordAccess`.
public struct GlucoseService: GATTServiceDeclaration {
    /// The Glucose Measurement characteristic, 0x2A18, which centrals subscribe to.
    public let measurement: Characteristic<GlucoseMeasurement>

    /// The Glucose Measurement Context characteristic, 0x2A34, which centrals subscribe to.
    ///
    /// The property is `nil` if the service does not declare the Glucose Measurement Context.
    public let context: Characteristic<GlucoseContext>?

    /// The Glucose Feature characteristic, 0x2A51, which centrals read.
    public let feature: Characteristic<GlucoseFeature>

    /// The Record Access Control Point characteristic, 0x2A52.
    public let recordAccess: Characteristic<RecordAccessResponse>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - records: Returns all stored records, from the oldest record to the newest record. If the closure
    ///     throws an error, the request of the central fails.
    ///   - remove: Deletes the records that a central selects. Use `nil` if centrals cannot delete records.
    ///   - hasContext: Whether a record can contain a context. If `hasContext` is `false`, the service does
    ///     not send ``GlucoseRecord/context``.
    ///   - status: The problems that the sensor can report in ``GlucoseMeasurement/status``. The service
    ///     derives the ``GlucoseFeature`` value from the `status` parameter. The service reports only
    ///     problems that the `status` parameter contains.
    ///   - supportsMultipleBonds: Whether the device supports bonds with several centrals.
    ///   - security: The security required to subscribe to the characteristics, and to write to the Record
    ///     Access Control Point. Require at least encryption, because glucose measurements are health data.
    public init(
        records: @escaping @Sendable () async throws -> [GlucoseRecord],
        remove: (@Sendable (_ records: [GlucoseRecord]) async throws -> Void)? = nil,
        hasContext: Bool = false,
        detecting status: GlucoseSensorStatus = [],
        supportsMultipleBonds: Bool = false,
        security: AttributeSecurity = .encrypted
    ) {
        let measurement = Characteristic<GlucoseMeasurement>(
            .glucoseMeasurement,
            .notify,
            security: security
        )
        let context =
            hasContext
            ? Characteristic<GlucoseContext>(.glucoseMeasurementContext, .notify, security: security) : nil
        self.measurement = measurement
        self.context = context
        feature = Characteristic(
            .glucoseFeature,
            value: GlucoseFeature(detecting: status, supportsMultipleBonds: supportsMultipleBonds)
        )
        recordAccess = RecordAccess<GlucoseRecord>(
            records: records,
            remove: remove,
            filters: [
                .sequenceNumber { $0.measurement.sequenceNumber },
                .userFacingTime { $0.measurement.userFacingTime },
            ],
            reportedBy: measurement,
            errorWhenNotSubscribed: .glucoseNotSubscribed,
            errorWhenBusy: .glucoseProcedureInProgress,
            report: { record, central, session in
                var record = record
                record.measurement.status =
                    status.isEmpty ? nil : record.measurement.status?.intersection(status)
                try await record.send(to: central, by: measurement, and: context, in: session)
            }
        )
        .characteristic(security: security)
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.glucose) {
            measurement
            if let context { context }
            feature
            recordAccess
        }
    }
}

/// A stored glucose measurement, with the context that the user reports.
public struct GlucoseRecord: Hashable, Sendable {
    /// The measurement.
    public var measurement: GlucoseMeasurement

    /// The context that the user reports, or `nil` if the record has no context.
    public var context: GlucoseContext?

    /// Creates a record.
    public init(_ measurement: GlucoseMeasurement, context: GlucoseContext? = nil) {
        self.measurement = measurement
        self.context = context
    }

    /// Sends the measurement, and also its context if the central has subscribed to contexts.
    fileprivate func send(
        to central: Central,
        by measurements: Characteristic<GlucoseMeasurement>,
        and contexts: Characteristic<GlucoseContext>?,
        in session: PeripheralSession
    ) async throws {
        var measurement = measurement
        measurement.contextFollows = false
        guard var context, let contexts,
            try session.subscribers(of: contexts).contains(where: { $0.mayBe(of: central) })
        else {
            return try await session.notify(measurements, measurement, to: central)
        }
        measurement.contextFollows = true
        context.sequenceNumber = measurement.sequenceNumber
        try await session.notify(measurements, measurement, to: central)
        try await session.notify(contexts, context, to: central)
    }
}

extension GlucoseMeasurement {
    /// The measurement time that the device displays to the user.
    ///
    /// The property is `nil` if the time is unknown.
    public var userFacingTime: UserFacingTime? {
        UserFacingTime(baseTime, minutes: Int(timeOffset ?? 0))
    }
}

extension ATTError {
    /// The error for a request of a central whose earlier request is in progress.
    ///
    /// A central writes each request to the Record Access Control Point. The Glucose Service specification
    /// 1.0.1 defines the application error 0x80 in section 1.6.
    public static let glucoseProcedureInProgress = ATTError(rawValue: 0x80)

    /// The error for a request from a central that lacks a required subscription.
    ///
    /// Before a central sends a request, the central must subscribe to the measurements and to the Record
    /// Access Control Point. The Glucose Service specification 1.0.1 defines the application error 0x81 in
    /// section 1.6.
    public static let glucoseNotSubscribed = ATTError(rawValue: 0x81)
}
