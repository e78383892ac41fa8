public import PeripheralKit
public import PeripheralSensorLocation

/// The Cycling Power service, 0x1818, as defined by the Cycling Power Service specification 1.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralCyclingPower
/// import PeripheralKit
///
/// let power = CyclingPowerService(measuring: .crankRevolutions, location: .fixed(.leftCrank))
/// let peripheral = Peripheral("Crank") { power }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await turn in sensor.turns {
///         let crank = CrankRevolutions(truncatingIfNeeded: turn.count, at: turn.time)
///         try await power.notify(CyclingPowerMeasurement(watts: turn.watts, crank: crank), in: session)
///     }
/// }
/// ```
///
/// Send a measurement about once per second. The service sends only the values that you declare
/// in the initializer. For each central, the service omits the values that the central has disabled.
///
/// The response to a failed request contains one of the following results:
///
/// - Op Code Not Supported, if the program declares neither a handler nor a value for the request.
/// - Invalid Parameter, if the parameter of the request is invalid.
/// - Operation Failed, if a handler throws an error.
///
/// A handler throws a `SensorControlResult` to choose another result.
public struct CyclingPowerService: GATTServiceDeclaration {
    /// The Cycling Power Measurement characteristic, 0x2A63, to which centrals subscribe.
    ///
    /// Send a measurement with ``notify(_:in:)``.
    public let measurement: Characteristic<CyclingPowerMeasurement>

    /// The Cycling Power Feature characteristic, 0x2A65, which centrals read.
    public let feature: Characteristic<CyclingPowerFeature>

    /// The Sensor Location characteristic, 0x2A5D, which centrals read.
    public let sensorLocation: Characteristic<SensorLocation>

    /// The Cycling Power Vector characteristic, 0x2A64, to which centrals subscribe.
    ///
    /// The property is `nil` if the service does not declare the Cycling Power Vector characteristic.
    ///
    /// Send a vector with ``notify(vector:in:)``.
    public let vector: Characteristic<CyclingPowerVector>?

    /// The Cycling Power Control Point characteristic, 0x2A66.
    ///
    /// The property is `nil` if the service supports no requests.
    public let controlPoint: Characteristic<CyclingPowerResponse>?

    let content: CyclingPowerMeasurement.Content
    let isTorqueBased: Bool
    let reportsOffsetCompensation: Bool
    let reportsDirection: Bool
    let masks = CyclingPowerMasks()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - content: The values that measurements contain in addition to the power. If you pass
    ///     `onSetWheelRevolutions`, measurements also contain the wheel revolutions.
    ///   - location: The location of the sensor.
    ///   - isTorqueBased: Whether the sensor measures torques instead of forces.
    ///   - reportsOffsetCompensation: Whether measurements can report that the sensor's offset needs
    ///     compensation.
    ///   - isMaskable: Whether each central can disable values in its measurements.
    ///   - hasVector: Whether the sensor sends vectors of forces or torques.
    ///   - reportsDirection: Whether vectors contain the direction of the forces or torques.
    ///   - isForDistributedSystem: Whether the sensor can be used together with another sensor on the same
    ///     bicycle, or `nil` if unspecified.
    ///   - settings: The settings that centrals can read and set. Pass each setting at most once.
    ///   - offsetCompensation: The offset compensation of the sensor, or `nil` if centrals cannot request a
    ///     compensation.
    ///   - samplingRate: The sampling rate of the sensor in hertz, or `nil` if the sensor does not report a
    ///     sampling rate.
    ///   - factoryCalibrationDate: The date of the factory calibration, or `nil` if the sensor does not
    ///     report a calibration date.
    ///   - security: The link security that is required for subscriptions, and for writes to the control
    ///     point.
    ///   - setWheelRevolutions: A handler that sets the wheel revolution count to the value written by a
    ///     central. Pass `nil` if the sensor does not report wheel revolutions.
    public init(
        measuring content: CyclingPowerMeasurement.Content = [],
        location: SensorPlacement,
        isTorqueBased: Bool = false,
        reportsOffsetCompensation: Bool = false,
        isMaskable: Bool = false,
        hasVector: Bool = false,
        reportsDirection: Bool = false,
        isForDistributedSystem: Bool? = nil,
        settings: [CyclingPowerSetting] = [],
        offsetCompensation: CyclingPowerOffsetCompensation? = nil,
        samplingRate: UInt8? = nil,
        factoryCalibrationDate: DateTime? = nil,
        security: AttributeSecurity = .open,
        onSetWheelRevolutions setWheelRevolutions: (@Sendable (_ count: UInt32) async throws -> Void)? = nil
    ) {
        let wheel = CyclingPowerMeasurement.Content.wheel
        let reported = content.rawValue & ~wheel | (setWheelRevolutions == nil ? 0 : wheel)
        // The first six bits are the same as the bits of the features.
        var bits = UInt32(reported & 0x3F)
        func set(_ feature: CyclingPowerFeature, if isSupported: Bool) {
            if isSupported { bits |= feature.rawValue }
        }
        set(.deadSpotAngles, if: reported & 0xC0 != 0)
        set(.accumulatedEnergy, if: reported & 0x100 != 0)
        set(.offsetCompensationIndicator, if: reportsOffsetCompensation)
        set(.offsetCompensation, if: offsetCompensation != nil)
        set(.contentMasking, if: isMaskable)
        set(.multipleSensorLocations, if: location.isMovable)
        for setting in settings { set(setting.feature, if: true) }
        set(.torqueBased, if: isTorqueBased)
        set(.measurementDirection, if: reportsDirection)
        set(.factoryCalibrationDate, if: factoryCalibrationDate != nil)
        set(.enhancedOffsetCompensation, if: offsetCompensation?.companyID != nil)
        set(.notForDistributedSystem, if: isForDistributedSystem == false)
        set(.forDistributedSystem, if: isForDistributedSystem == true)
        let features = CyclingPowerFeature(rawValue: bits)

        self.content = CyclingPowerMeasurement.Content(rawValue: reported)
        self.isTorqueBased = isTorqueBased
        self.reportsOffsetCompensation = reportsOffsetCompensation
        self.reportsDirection = reportsDirection
        measurement = Characteristic(.cyclingPowerMeasurement, .notify, security: security)
        feature = Characteristic(.cyclingPowerFeature, value: features)
        sensorLocation = location.characteristic()
        vector = hasVector ? Characteristic(.cyclingPowerVector, .notify, security: security) : nil
        let control = CyclingPowerControl(
            features: features,
            placement: location,
            setWheelRevolutions: setWheelRevolutions,
            settings: settings,
            offsetCompensation: offsetCompensation,
            samplingRate: samplingRate,
            factoryCalibrationDate: factoryCalibrationDate,
            masks: masks
        )
        guard control.isNeeded else {
            controlPoint = nil
            return
        }
        controlPoint = Characteristic(
            .cyclingPowerControlPoint,
            [.write, .indicate],
            security: security
        ) {
            ControlPoint { (request: CyclingPowerRequest, central, session) in
                try await control.response(to: request, of: central, in: session)
            }
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.cyclingPower) {
            measurement
            feature
            sensorLocation
            if let vector { vector }
            if let controlPoint { controlPoint }
        }
    }
}
