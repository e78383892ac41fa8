public import PeripheralKit

/// The Heart Rate service, 0x180D, of the Heart Rate Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralHeartRate
/// import PeripheralKit
///
/// let heartRate = HeartRateService(location: .chest)
/// let peripheral = Peripheral("Pulse") { heartRate }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await beat in sensor.beats {
///         try await heartRate.notify(HeartRateMeasurement(bpm: beat.bpm), in: session)
///     }
/// }
/// ```
///
/// Send a measurement about once a second. The specification does not define a rate.
public struct HeartRateService: GATTServiceDeclaration {
    /// The Heart Rate Measurement, 0x2A37, which centrals subscribe to.
    ///
    /// Use ``notify(_:in:)`` to send a measurement.
    public let measurement: Characteristic<HeartRateMeasurement>

    /// The Body Sensor Location, 0x2A38, which centrals read.
    ///
    /// The property is `nil` if the service does not declare a location.
    public let bodySensorLocation: Characteristic<BodySensorLocation>?

    /// The Heart Rate Control Point, 0x2A39, which centrals write.
    ///
    /// The property is `nil` if the sensor does not send the energy expended.
    public let controlPoint: Characteristic<HeartRateCommand>?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - location: The place on the body where the sensor is worn; `nil` to omit the characteristic.
    ///   - security: The security required to subscribe, and to write the control point. The default requires
    ///     no security, because fitness apps expect an open service.
    ///   - resetEnergyExpended: Sets the sensor's count of expended energy to 0 when a central requests the
    ///     reset. The closure is required for a sensor that sends ``HeartRateMeasurement/energyExpended``
    ///     (section 3.3). Any other sensor omits the closure. If the closure throws an error, the request is
    ///     refused.
    public init(
        location: BodySensorLocation? = nil,
        security: AttributeSecurity = .open,
        onResetEnergyExpended resetEnergyExpended: (@Sendable () async throws -> Void)? = nil
    ) {
        measurement = Characteristic(.heartRateMeasurement, .notify, security: security)
        bodySensorLocation = location.map { Characteristic(.bodySensorLocation, value: $0) }
        controlPoint = resetEnergyExpended.map { reset in
            Characteristic(.heartRateControlPoint, .write, security: security) {
                Write { (command: HeartRateCommand) in
                    guard command == .resetEnergyExpended else {
                        throw ATTError.heartRateControlPointNotSupported
                    }
                    try await reset()
                }
            }
        }
    }

    /// Sends a measurement to all subscribers.
    ///
    /// The energy expended is not sent if centrals cannot reset the energy.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func notify(_ value: HeartRateMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if controlPoint == nil { value.energyExpended = nil }
        try await session.notify(measurement, value)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.heartRate) {
            measurement
            if let bodySensorLocation { bodySensorLocation }
            if let controlPoint { controlPoint }
        }
    }
}

extension ATTError {
    /// The error for a ``HeartRateCommand`` that the sensor does not support.
    ///
    /// The code is the application error 0x80 of the Heart Rate Service specification 1.0, section 1.6.
    public static let heartRateControlPointNotSupported = ATTError(rawValue: 0x80)
}
