public import PeripheralKit
public import PeripheralSensorControl
public import PeripheralSensorLocation

/// The Cycling Speed and Cadence service, 0x1816.
///
/// The service implements the Cycling Speed and Cadence Service specification 1.0.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralCyclingSpeedAndCadence
/// import PeripheralKit
///
/// let cycling = CyclingSpeedAndCadenceService(location: .fixed(.rearWheel)) { count in
///     await sensor.setWheelRevolutions(count)
/// }
/// let peripheral = Peripheral("Bike") { cycling }
/// try await peripheral.run(on: .bluez) { session in
///     for await turn in sensor.turns {
///         let wheel = WheelRevolutions(turn.count, at: turn.time)
///         try await cycling.notify(CSCMeasurement(wheel: wheel), in: session)
///     }
/// }
/// ```
///
/// Send a measurement about once per second, even if the wheel and the crank are not turning (Cycling Speed
/// and Cadence Service 1.0.1, section 3.1.1). Each measurement contains the wheel revolutions and the crank
/// revolutions that the sensor reports.
///
/// If a sensor counts wheel revolutions, centrals must be able to set the number of wheel revolutions
/// (Cycling Speed and Cadence Service 1.0.1, section 3.4.1). The documentation of the `SensorControl` type
/// describes the responses to requests from centrals.
public struct CyclingSpeedAndCadenceService: GATTServiceDeclaration {
    /// The CSC Measurement characteristic, 0x2A5B, which centrals subscribe to.
    ///
    /// Send a measurement with ``notify(_:in:)``.
    public let measurement: Characteristic<CSCMeasurement>

    /// The CSC Feature characteristic, 0x2A5C, which centrals read.
    public let feature: Characteristic<CSCFeature>

    /// The Sensor Location characteristic, 0x2A5D, or `nil` if the service does not declare it.
    ///
    /// Centrals can read the Sensor Location characteristic.
    public let sensorLocation: Characteristic<SensorLocation>?

    /// The SC Control Point characteristic, 0x2A55, or `nil` if the service does not declare it.
    ///
    /// The service declares the SC Control Point if centrals can set the wheel revolutions or the sensor
    /// location.
    public let controlPoint: Characteristic<SensorControlResponse>?

    private let counted: CSCFeature

    /// Declares the service for a sensor that counts wheel revolutions.
    ///
    /// - Parameters:
    ///   - hasCrank: Whether the measurements contain crank revolutions in addition to wheel revolutions.
    ///   - location: The location of the sensor, or `nil` to omit the Sensor Location characteristic.
    ///   - security: The link security that a central needs to subscribe to the measurements and to write the
    ///     control point.
    ///   - setWheelRevolutions: A closure that sets the number of wheel revolutions to the value written by a
    ///     central. If the closure throws an error, the central's request fails.
    public init(
        hasCrank: Bool = false,
        location: SensorPlacement? = nil,
        security: AttributeSecurity = .open,
        onSetWheelRevolutions setWheelRevolutions: @escaping @Sendable (_ count: UInt32) async throws -> Void
    ) {
        self.init(
            hasCrank ? [.wheelRevolutions, .crankRevolutions] : .wheelRevolutions,
            location,
            security,
            setWheelRevolutions
        )
    }

    /// Declares the service for a sensor that counts only crank revolutions.
    ///
    /// - Parameters:
    ///   - location: The location of the sensor, or `nil` to omit the Sensor Location characteristic.
    ///   - security: The link security that a central needs to subscribe to the measurements and to write the
    ///     control point.
    public init(crankOnlyAt location: SensorPlacement?, security: AttributeSecurity = .open) {
        self.init(.crankRevolutions, location, security, nil)
    }

    private init(
        _ counted: CSCFeature,
        _ location: SensorPlacement?,
        _ security: AttributeSecurity,
        _ setWheelRevolutions: (@Sendable (UInt32) async throws -> Void)?
    ) {
        self.counted = counted
        var features = counted
        if location?.isMovable == true { features.insert(.multipleSensorLocations) }
        measurement = Characteristic(.cscMeasurement, .notify, security: security)
        feature = Characteristic(.cscFeature, value: features)
        sensorLocation = location?.characteristic()
        controlPoint = SensorControl(placement: location, onSetCumulativeValue: setWheelRevolutions)
            .characteristic(security: security)
    }

    /// Sends a measurement to the subscribers.
    ///
    /// The method sends only the values that the service declares in its features.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that contains the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ value: CSCMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if !counted.contains(.wheelRevolutions) { value.wheel = nil }
        if !counted.contains(.crankRevolutions) { value.crank = nil }
        try await session.notify(measurement, value)
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.cyclingSpeedAndCadence) {
            measurement
            feature
            if let sensorLocation { sensorLocation }
            if let controlPoint { controlPoint }
        }
    }
}
