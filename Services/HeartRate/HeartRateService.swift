public import PeripheralKit

/// The Heart Rate service, 0x180D, as defined by the Heart Rate Service specification 1.0.
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
/// Send a measurement about once per second. The Heart Rate Service specification 1.0 does not define how
/// often a sensor sends measurements.
public struct HeartRateService: GATTServiceDeclaration {
    /// The Heart Rate Measurement characteristic, 0x2A37, to which centrals subscribe.
    ///
    /// Use ``notify(_:in:)`` to send a measurement.
    public let measurement: Characteristic<HeartRateMeasurement>

    /// The Body Sensor Location characteristic, 0x2A38, which centrals read.
    ///
    /// The property is `nil` if the service does not declare a location.
    public let bodySensorLocation: Characteristic<BodySensorLocation>?

    /// The Heart Rate Control Point characteristic, 0x2A39, which centrals write.
    ///
    /// The property is `nil` if the sensor does not send the energy expended.
    public let controlPoint: Characteristic<HeartRateCommand>?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - location: The place on the body where a person wears the sensor. Pass `nil` to omit the Body
    ///     Sensor Location characteristic.
    ///   - security: The security required to subscribe to the measurements, and to write to the control
    ///     point. Fitness apps assume that the service requires no security. The default is therefore
    ///     `.open`.
    ///   - resetEnergyExpended: A closure that resets the energy expended to 0 when a central requests a
    ///     reset. The closure is required for a sensor that sends ``HeartRateMeasurement/energyExpended``
    ///     (Heart Rate Service 1.0, section 3.3). Omit the closure if the sensor does not send the energy
    ///     expended. If the closure throws an error, the service refuses the request.
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
    /// The method omits the energy expended if centrals cannot reset the energy.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: Any error that `session.notify` throws.
    public func notify(_ value: HeartRateMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if controlPoint == nil { value.energyExpended = nil }
        try await session.notify(measurement, value)
    }

    /// The GATT service that the peripheral publishes.
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
    /// The error code is 0x80, an application error that the Heart Rate Service specification 1.0 defines in
    /// section 1.6.
    public static let heartRateControlPointNotSupported = ATTError(rawValue: 0x80)
}
