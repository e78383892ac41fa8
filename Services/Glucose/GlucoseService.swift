public import PeripheralKit
public import PeripheralRecordAccess

/// The Glucose service, 0x1808, of the Glucose Service specification 1.0.1.
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
/// A meter stores its measurements. A central requests the stored measurements through the Record Access
/// Control Point. A central can request all records, the first, the last, or a range. The bounds of a range
/// are sequence numbers, or times as displayed to the user.
///
/// Two kinds of requests are refused:
///
/// - Requests of a central that has not subscribed to the measurements, with `ATTError.glucoseNotSubscribed`.
/// - Requests that arrive while another request is carried out, with `ATTError.glucoseProcedureInProgress`.
///
/// With BlueZ before 5.76, records are sent only while a single central has subscribed to the measurements.
/// `RecordAccess` documents this limit.
public struct GlucoseService: GATTServiceDeclaration {
    /// The Glucose Measurement, 0x2A18, which centrals subscribe to.
    public let measurement: Characteristic<GlucoseMeasurement>

    /// The Glucose Measurement Context, 0x2A34, which centrals subscribe to; `nil` when it is not declared.
    public let context: Characteristic<GlucoseContext>?

    /// The Glucose Feature, 0x2A51, which centrals read.
    public let feature: Characteristic<GlucoseFeature>

    /// The Record Access Control Point, 0x2A52.
    public let recordAccess: Characteristic<RecordAccessResponse>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - records: Returns all stored records, the oldest first. If the closure throws, the central's
    ///     request fails.
    ///   - remove: Deletes records at the request of a central; `nil` when centrals may not delete records.
    ///   - hasContext: Whether records may have a context. If `false`, ``GlucoseRecord/context`` is not sent.
    ///   - status: The problems that the sensor reports in ``GlucoseMeasurement/status``. The service derives
    ///     the feature bits from these problems. Other problems are not sent.
    ///   - supportsMultipleBonds: Whether several centrals can be bonded.
    ///   - security: The security required to subscribe, and to write the control point. Glucose is health
    ///     data: require at least encryption.
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

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.glucose) {
            measurement
            if let context { context }
            feature
            recordAccess
        }
    }
}

/// A measurement stored by a meter, with the context reported by the user.
public struct GlucoseRecord: Hashable, Sendable {
    /// The measurement.
    public var measurement: GlucoseMeasurement

    /// The context reported by the user; `nil` when there is no context.
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
        guard var context, let contexts, try session.isSubscribed(central, to: contexts) else {
            return try await session.notify(measurements, measurement, to: central)
        }
        measurement.contextFollows = true
        context.sequenceNumber = measurement.sequenceNumber
        try await session.notify(measurements, measurement, to: central)
        try await session.notify(contexts, context, to: central)
    }
}

extension GlucoseMeasurement {
    /// The time as displayed to the user; `nil` when unknown.
    public var userFacingTime: UserFacingTime? {
        UserFacingTime(baseTime, minutes: Int(timeOffset ?? 0))
    }
}

extension ATTError {
    /// The error for a request that arrives while another request is carried out.
    ///
    /// Both requests are written to the Record Access Control Point. The value is the application error 0x80
    /// of the Glucose Service specification 1.0.1, section 1.6.
    public static let glucoseProcedureInProgress = ATTError(rawValue: 0x80)

    /// The error for a central that lacks a required subscription.
    ///
    /// The central must subscribe to the measurements and to the Record Access Control Point. The value is
    /// the application error 0x81 of the Glucose Service specification 1.0.1, section 1.6.
    public static let glucoseNotSubscribed = ATTError(rawValue: 0x81)
}
