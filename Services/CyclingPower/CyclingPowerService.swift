public import PeripheralKit
public import PeripheralSensorLocation

/// The Cycling Power service, 0x1818, of the Cycling Power Service specification 1.1.
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
/// Send a measurement about once a second. What is not among the parameters is left out of it, as is what a central has turned
/// off.
///
/// A request to the control point for which nothing is given here is answered as not supported, and a parameter that makes no
/// sense as invalid. A handler that throws fails the request; it may throw a `SensorControlResult` to tell how.
public struct CyclingPowerService: GATTServiceDeclaration {
    /// The Cycling Power Measurement, 0x2A63, which centrals subscribe to.
    ///
    /// Send by ``notify(_:in:)``.
    public let measurement: Characteristic<CyclingPowerMeasurement>

    /// The Cycling Power Feature, 0x2A65, which centrals read.
    public let feature: Characteristic<CyclingPowerFeature>

    /// The Sensor Location, 0x2A5D, which centrals read.
    public let sensorLocation: Characteristic<SensorLocation>

    /// The Cycling Power Vector, 0x2A64, which centrals subscribe to; `nil` when there is none.
    ///
    /// Send by ``notify(vector:in:)``.
    public let vector: Characteristic<CyclingPowerVector>?

    /// The Cycling Power Control Point, 0x2A66; `nil` when there is nothing to ask for.
    public let controlPoint: Characteristic<CyclingPowerResponse>?

    let content: CyclingPowerMeasurement.Content
    let isTorqueBased: Bool
    let tellsOffsetCompensation: Bool
    let tellsDirection: Bool
    let masks = CyclingPowerMasks()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - content: What measurements tell beside the power, and beside the wheel's revolutions, which are told if they can be
    ///     set.
    ///   - location: Where the sensor is.
    ///   - isTorqueBased: Whether the sensor measures torques; `false` for forces.
    ///   - tellsOffsetCompensation: Whether measurements tell when the offset should be compensated.
    ///   - isMaskable: Whether each central can turn off what it does not want of measurements.
    ///   - hasVector: Whether there are vectors of forces or torques.
    ///   - tellsDirection: Whether vectors tell in which direction they are measured.
    ///   - isForDistributedSystem: Whether the sensor can be used together with another on the same bicycle; `nil` to leave it
    ///     open.
    ///   - settings: What centrals can read and set, each kind once.
    ///   - offsetCompensation: How the offset is compensated; `nil` when centrals cannot ask for it.
    ///   - samplingRate: How often the sensor measures, in hertz; `nil` when it does not tell.
    ///   - factoryCalibrationDate: When the maker has calibrated the sensor; `nil` when it does not tell.
    ///   - security: What it takes to subscribe to measurements and vectors, and to write the control point.
    ///   - setWheelRevolutions: Sets the count of the wheel's revolutions as a central wants it; `nil` when measurements do
    ///     not tell the wheel's revolutions.
    public init(
        measuring content: CyclingPowerMeasurement.Content = [],
        location: SensorPlacement,
        isTorqueBased: Bool = false,
        tellsOffsetCompensation: Bool = false,
        isMaskable: Bool = false,
        hasVector: Bool = false,
        tellsDirection: Bool = false,
        isForDistributedSystem: Bool? = nil,
        settings: [CyclingPowerSetting] = [],
        offsetCompensation: CyclingPowerOffsetCompensation? = nil,
        samplingRate: UInt8? = nil,
        factoryCalibrationDate: DateTime? = nil,
        security: AttributeSecurity = .open,
        onSetWheelRevolutions setWheelRevolutions: (@Sendable (_ count: UInt32) async throws -> Void)? = nil
    ) {
        let wheel = CyclingPowerMeasurement.Content.wheel
        let told = content.rawValue & ~wheel | (setWheelRevolutions == nil ? 0 : wheel)
        // The first six are the same as in the features.
        var bits = UInt32(told & 0x3F)
        func set(_ feature: CyclingPowerFeature, if isSupported: Bool) {
            if isSupported { bits |= feature.rawValue }
        }
        set(.deadSpotAngles, if: told & 0xC0 != 0)
        set(.accumulatedEnergy, if: told & 0x100 != 0)
        set(.offsetCompensationIndicator, if: tellsOffsetCompensation)
        set(.offsetCompensation, if: offsetCompensation != nil)
        set(.contentMasking, if: isMaskable)
        set(.multipleSensorLocations, if: location.isMovable)
        for setting in settings { set(setting.feature, if: true) }
        set(.torqueBased, if: isTorqueBased)
        set(.measurementDirection, if: tellsDirection)
        set(.factoryCalibrationDate, if: factoryCalibrationDate != nil)
        set(.enhancedOffsetCompensation, if: offsetCompensation?.companyID != nil)
        set(.notForDistributedSystem, if: isForDistributedSystem == false)
        set(.forDistributedSystem, if: isForDistributedSystem == true)
        let features = CyclingPowerFeature(rawValue: bits)

        self.content = CyclingPowerMeasurement.Content(rawValue: told)
        self.isTorqueBased = isTorqueBased
        self.tellsOffsetCompensation = tellsOffsetCompensation
        self.tellsDirection = tellsDirection
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

    /// The service as it is published.
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
