public import PeripheralKit
public import PeripheralSensorControl
public import PeripheralSensorLocation

/// The Running Speed and Cadence service, 0x1814.
///
/// The service implements the Running Speed and Cadence Service specification 1.0.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralRunningSpeedAndCadence
///
/// let running = RunningSpeedAndCadenceService(reportsRunning: true, location: .fixed(.inShoe))
/// let peripheral = Peripheral("Foot pod") { running }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await step in sensor.steps {
///         let value = RSCMeasurement(
///             metersPerSecond: step.speed, cadence: step.cadence, isRunning: step.isRunning
///         )
///         try await running.notify(value, in: session)
///     }
/// }
/// ```
///
/// Send a measurement about once a second (section 3.1.1 of the specification).
///
/// If a sensor sends the total distance, centrals must be able to set the distance (section 3.4.1 of the
/// specification). The service therefore sends the distance only if you provide a handler that sets the
/// distance. The documentation of `SensorControl` describes how the control point responds to requests.
public struct RunningSpeedAndCadenceService: GATTServiceDeclaration {
    /// The RSC Measurement characteristic, 0x2A53, which centrals subscribe to.
    ///
    /// Use ``notify(_:in:)`` to send a measurement.
    public let measurement: Characteristic<RSCMeasurement>

    /// The RSC Feature characteristic, 0x2A54, which centrals read.
    public let feature: Characteristic<RSCFeature>

    /// The Sensor Location characteristic, 0x2A5D, which centrals read.
    ///
    /// The property is `nil` if the service does not declare a location.
    public let sensorLocation: Characteristic<SensorLocation>?

    /// The SC Control Point characteristic, 0x2A55.
    ///
    /// The property is `nil` if centrals cannot set any value and cannot calibrate the sensor.
    public let controlPoint: Characteristic<SensorControlResponse>?

    private let supported: RSCFeature

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - reportsStrideLength: Whether measurements contain the length of a stride.
    ///   - reportsRunning: Whether measurements distinguish walking from running.
    ///   - location: The location of the sensor, or `nil` to omit the Sensor Location characteristic.
    ///   - security: The security required to subscribe to the measurements, and to write to the control
    ///     point.
    ///   - setTotalDistance: A closure that sets the total distance to the value that a central has written.
    ///     The total distance is in meters, in steps of 0.1. If the closure is `nil`, measurements do not
    ///     contain the total distance. If the closure throws an error, the central's request fails.
    ///   - calibrate: A closure that calibrates the sensor when a central requests a calibration. If the
    ///     closure is `nil`, centrals cannot calibrate the sensor. If the closure throws an error, the
    ///     central's request fails. The closure must return within 30 seconds. A central stops waiting for
    ///     the response after 30 seconds.
    public init(
        reportsStrideLength: Bool = false,
        reportsRunning: Bool = false,
        location: SensorPlacement? = nil,
        security: AttributeSecurity = .open,
        onSetTotalDistance setTotalDistance: (@Sendable (_ meters: Double) async throws -> Void)? = nil,
        onCalibrate calibrate: (@Sendable () async throws -> Void)? = nil
    ) {
        var features: RSCFeature = []
        if reportsStrideLength { features.insert(.strideLength) }
        if setTotalDistance != nil { features.insert(.totalDistance) }
        if reportsRunning { features.insert(.walkingOrRunning) }
        if calibrate != nil { features.insert(.calibration) }
        if location?.isMovable == true { features.insert(.multipleSensorLocations) }
        supported = features
        measurement = Characteristic(.rscMeasurement, .notify, security: security)
        feature = Characteristic(.rscFeature, value: features)
        sensorLocation = location?.characteristic()
        var setDecimeters: (@Sendable (UInt32) async throws -> Void)?
        if let setTotalDistance {
            setDecimeters = { try await setTotalDistance(Double($0) / 10) }
        }
        controlPoint = SensorControl(
            placement: location,
            onSetCumulativeValue: setDecimeters,
            onCalibrate: calibrate
        )
        .characteristic(security: security)
    }

    /// Sends a measurement to all subscribers.
    ///
    /// The service omits an optional value if the features of the sensor do not include that value.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The function throws the same errors as `session.notify`.
    public func notify(_ value: RSCMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if !supported.contains(.strideLength) { value.strideLength = nil }
        if !supported.contains(.totalDistance) { value.totalDistance = nil }
        if !supported.contains(.walkingOrRunning) { value.isRunning = false }
        try await session.notify(measurement, value)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.runningSpeedAndCadence) {
            measurement
            feature
            if let sensorLocation { sensorLocation }
            if let controlPoint { controlPoint }
        }
    }
}
