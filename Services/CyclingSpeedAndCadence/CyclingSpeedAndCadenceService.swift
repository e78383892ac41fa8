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
/// Send a measurement about once a second, even while the wheel and the crank do not turn (section 3.1.1).
/// Each measurement contains the revolutions of the wheel and of the crank, if the sensor reports them.
///
/// A sensor that counts the revolutions of the wheel must let centrals set the count (section 3.4.1). The
/// `SensorControl` type documents how requests are answered.
public struct CyclingSpeedAndCadenceService: GATTServiceDeclaration {
    /// The CSC Measurement, 0x2A5B, which centrals subscribe to.
    ///
    /// Send a measurement with ``notify(_:in:)``.
    public let measurement: Characteristic<CSCMeasurement>

    /// The CSC Feature, 0x2A5C, which centrals read.
    public let feature: Characteristic<CSCFeature>

    /// The Sensor Location, 0x2A5D, which centrals read; `nil` when it is not declared.
    public let sensorLocation: Characteristic<SensorLocation>?

    /// The SC Control Point, 0x2A55; `nil` when centrals cannot set anything.
    public let controlPoint: Characteristic<SensorControlResponse>?

    private let counted: CSCFeature

    /// Declares the service of a sensor that counts the wheel's revolutions.
    ///
    /// - Parameters:
    ///   - hasCrank: Whether measurements also contain the revolutions of the crank.
    ///   - location: The location of the sensor; `nil` to omit the location.
    ///   - security: The security required to subscribe to the measurements, and to write the control point.
    ///   - setWheelRevolutions: Sets the count of the wheel's revolutions that a central has written. If the
    ///     closure throws, the central's request fails.
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

    /// Declares the service of a sensor that counts only the crank's revolutions.
    ///
    /// - Parameters:
    ///   - location: The location of the sensor; `nil` to omit the location.
    ///   - security: The security required to subscribe to the measurements, and to write the control point.
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
    /// Values that the features do not include are not sent.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func notify(_ value: CSCMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if !counted.contains(.wheelRevolutions) { value.wheel = nil }
        if !counted.contains(.crankRevolutions) { value.crank = nil }
        try await session.notify(measurement, value)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.cyclingSpeedAndCadence) {
            measurement
            feature
            if let sensorLocation { sensorLocation }
            if let controlPoint { controlPoint }
        }
    }
}
