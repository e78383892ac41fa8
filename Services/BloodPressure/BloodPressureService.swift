public import PeripheralKit

/// The Blood Pressure service, 0x1810, which implements the Blood Pressure Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralBloodPressure
/// import PeripheralKit
///
/// let bloodPressure = BloodPressureService(detecting: [.bodyMovement, .irregularPulse])
/// let peripheral = Peripheral("Cuff", pairing: .justWorks) { bloodPressure }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await result in cuff.results {
///         let value = BloodPressureMeasurement(
///             systolic: result.systolic, diastolic: result.diastolic, status: []
///         )
///         try await bloodPressure.indicate(value, in: session)
///     }
/// }
/// ```
public struct BloodPressureService: GATTServiceDeclaration {
    /// The Blood Pressure Measurement characteristic, 0x2A35.
    ///
    /// The service sends the result of a measurement as an indication. Send the result with
    /// ``indicate(_:in:)``.
    public let measurement: Characteristic<BloodPressureMeasurement>

    /// The Intermediate Cuff Pressure characteristic, 0x2A36, or `nil` if the service does not declare it.
    ///
    /// During a measurement, the service sends the current cuff pressure in notifications. Send a cuff
    /// pressure with ``notify(_:in:)``.
    public let intermediateCuffPressure: Characteristic<IntermediateCuffPressure>?

    /// The Blood Pressure Feature characteristic, 0x2A49, which centrals read.
    public let feature: Characteristic<BloodPressureFeature>

    private let detected: BloodPressureStatus

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - status: The problems that the device detects and reports in ``BloodPressureMeasurement/status``.
    ///     Include every problem that the device can report.
    ///   - hasIntermediateCuffPressure: Whether the device sends cuff pressures during a measurement.
    ///   - supportsMultipleBonds: Whether the device can bond with several centrals.
    ///   - security: The link security that is required for subscriptions. Blood pressure is health data. The
    ///     Blood Pressure Profile requires at least encryption.
    public init(
        detecting status: BloodPressureStatus = [],
        hasIntermediateCuffPressure: Bool = false,
        supportsMultipleBonds: Bool = false,
        security: AttributeSecurity = .encrypted
    ) {
        detected = status
        measurement = Characteristic(.bloodPressureMeasurement, .indicate, security: security)
        intermediateCuffPressure =
            hasIntermediateCuffPressure
            ? Characteristic(.intermediateCuffPressure, .notify, security: security) : nil
        feature = Characteristic(
            .bloodPressureFeature,
            value: BloodPressureFeature(detecting: status, supportsMultipleBonds: supportsMultipleBonds)
        )
    }

    /// Sends the result of a measurement and waits until the subscribers have confirmed the result.
    ///
    /// In the parameter `detecting` of the initializer, declare all problems that the device can detect. The
    /// method removes undeclared problems from ``BloodPressureMeasurement/status``.
    ///
    /// - Parameters:
    ///   - value: The result.
    ///   - session: The session of the peripheral that contains the service.
    /// - Throws: The errors that `session.indicate` throws.
    public func indicate(_ value: BloodPressureMeasurement, in session: PeripheralSession) async throws {
        try await session.indicate(measurement, value.limited(to: detected))
    }

    /// Sends an intermediate cuff pressure to the subscribers.
    ///
    /// In the parameter `detecting` of the initializer, declare all problems that the device can detect. The
    /// method removes undeclared problems from ``IntermediateCuffPressure/status``. Without an Intermediate
    /// Cuff Pressure characteristic, the method has no effect.
    ///
    /// - Parameters:
    ///   - value: The pressure of the cuff.
    ///   - session: The session of the peripheral that contains the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ value: IntermediateCuffPressure, in session: PeripheralSession) async throws {
        guard let intermediateCuffPressure else { return }
        try await session.notify(intermediateCuffPressure, value.limited(to: detected))
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.bloodPressure) {
            measurement
            if let intermediateCuffPressure { intermediateCuffPressure }
            feature
        }
    }
}

/// The features of a blood pressure monitor.
///
/// This type represents the value of the Blood Pressure Feature characteristic, 0x2A49 (Blood Pressure
/// Service 1.0, section 3.3).
public struct BloodPressureFeature: OptionSet, Hashable, Sendable {
    /// The encoded features.
    public var rawValue: UInt16

    /// Creates a set of features.
    ///
    /// The set can contain features that the specification does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The device detects body movement.
    public static let bodyMovementDetection = BloodPressureFeature(rawValue: 1 << 0)
    /// The device detects that the cuff is too loose.
    public static let cuffFitDetection = BloodPressureFeature(rawValue: 1 << 1)
    /// The device detects an irregular pulse.
    public static let irregularPulseDetection = BloodPressureFeature(rawValue: 1 << 2)
    /// The device detects a pulse that is too fast or too slow.
    public static let pulseRateRangeDetection = BloodPressureFeature(rawValue: 1 << 3)
    /// The device detects an improper position of the arm.
    public static let measurementPositionDetection = BloodPressureFeature(rawValue: 1 << 4)
    /// The device can bond with several centrals.
    public static let multipleBonds = BloodPressureFeature(rawValue: 1 << 5)

    init(detecting status: BloodPressureStatus, supportsMultipleBonds: Bool) {
        self = []
        if status.contains(.bodyMovement) { insert(.bodyMovementDetection) }
        if status.contains(.cuffTooLoose) { insert(.cuffFitDetection) }
        if status.contains(.irregularPulse) { insert(.irregularPulseDetection) }
        if !status.isDisjoint(with: [.pulseRateAboveRange, .pulseRateBelowRange]) {
            insert(.pulseRateRangeDetection)
        }
        if status.contains(.improperPosition) { insert(.measurementPositionDetection) }
        if supportsMultipleBonds { insert(.multipleBonds) }
    }
}

extension BloodPressureFeature: GATTValue {
    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
