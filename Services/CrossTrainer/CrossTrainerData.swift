public import PeripheralFitnessMachine
public import PeripheralKit

/// The data that a cross trainer reports about a workout.
///
/// This type represents the value of the Cross Trainer Data characteristic, 0x2ACE (Fitness Machine Service
/// 1.0, section 4.5).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralCrossTrainer
/// import PeripheralFitnessMachine
/// import PeripheralKit
///
/// let trainer = FitnessMachineService(reporting: CrossTrainerData(kilometersPerHour: 0, watts: 0))
/// let peripheral = Peripheral("Cross trainer") { trainer }
/// try await peripheral.run(on: .bluez) { session in
///     for await stride in pedals.seconds {
///         let data = CrossTrainerData(kilometersPerHour: stride.speed, watts: stride.power)
///         try await trainer.notify(data, in: session)
///     }
/// }
/// ```
public struct CrossTrainerData: FitnessMachineData {
    /// The speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    ///
    /// If the service sends the data in several parts, only the last part contains the speed. The speed is
    /// `nil` in every part before the last part.
    public var kilometersPerHour: Double?

    /// The average speed since the workout began, in kilometers per hour.
    ///
    /// The range of the average speed is 0 to 655.35 kilometers per hour in steps of 0.01.
    public var averageKilometersPerHour: Double?

    /// The distance since the workout began, in meters, 0 to 16,777,215.
    public var meters: Int?

    /// The number of steps per minute, 0 to 65,534, or `nil` if unknown.
    public var stepsPerMinute: Int?

    /// The average number of steps per minute since the workout began.
    ///
    /// The range is 0 to 65,534. The value is `nil` if the number is unknown.
    public var averageStepsPerMinute: Int?

    /// The number of strides since the workout began, 0 to 6553.5 in steps of 0.1.
    public var strides: Double?

    /// The total ascent since the workout began, 0 to 65,535 meters.
    ///
    /// If only ``metersDown`` has a value, the service sends 0 for the total ascent.
    public var metersUp: Int?

    /// The total descent since the workout began, 0 to 65,535 meters.
    ///
    /// If only ``metersUp`` has a value, the service sends 0 for the total descent.
    public var metersDown: Int?

    /// The inclination in percent, −3276.8 to 3276.6 in steps of 0.1, or `nil` if unknown.
    public var inclinationPercent: Double?

    /// The angle of the ramp in degrees, or `nil` if unknown.
    ///
    /// The range is −3276.8 to 3276.6 in steps of 0.1.
    public var rampDegrees: Double?

    /// The resistance level, −3276.8 to 3276.7 in steps of 0.1.
    ///
    /// The service encodes the resistance level as two bytes. Fitness Machine Service 1.0 originally defined
    /// two bytes for the resistance level. A newer GATT Specification Supplement defines only one byte for
    /// the resistance level. A central that follows the newer supplement misreads the fields after the
    /// resistance level. To support centrals that follow the newer supplement, omit the resistance level.
    public var resistanceLevel: Double?

    /// The power in watts, −32,768 to 32,767.
    public var watts: Int?

    /// The average power since the workout began, in watts, −32,768 to 32,767.
    public var averageWatts: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout: WorkoutData

    /// Whether the user is moving backward.
    public var isBackward = false

    /// Creates the data of a cross trainer.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - kilometersPerHour: The speed.
    ///   - averageKilometersPerHour: The average speed since the workout began.
    ///   - meters: The distance since the workout began.
    ///   - stepsPerMinute: The number of steps per minute.
    ///   - averageStepsPerMinute: The average number of steps per minute since the workout began.
    ///   - strides: The number of strides since the workout began.
    ///   - metersUp: The total ascent in meters since the workout began.
    ///   - metersDown: The total descent in meters since the workout began.
    ///   - inclinationPercent: The inclination.
    ///   - rampDegrees: The angle of the ramp.
    ///   - resistanceLevel: The resistance level.
    ///   - watts: The power.
    ///   - averageWatts: The average power since the workout began.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
    ///   - isBackward: Whether the user is moving backward.
    public init(
        kilometersPerHour: Double,
        averageKilometersPerHour: Double? = nil,
        meters: Int? = nil,
        stepsPerMinute: Int? = nil,
        averageStepsPerMinute: Int? = nil,
        strides: Double? = nil,
        metersUp: Int? = nil,
        metersDown: Int? = nil,
        inclinationPercent: Double? = nil,
        rampDegrees: Double? = nil,
        resistanceLevel: Double? = nil,
        watts: Int? = nil,
        averageWatts: Int? = nil,
        workout: WorkoutData = WorkoutData(),
        isBackward: Bool = false
    ) {
        self.kilometersPerHour = kilometersPerHour
        self.averageKilometersPerHour = averageKilometersPerHour
        self.meters = meters
        self.stepsPerMinute = stepsPerMinute
        self.averageStepsPerMinute = averageStepsPerMinute
        self.strides = strides
        self.metersUp = metersUp
        self.metersDown = metersDown
        self.inclinationPercent = inclinationPercent
        self.rampDegrees = rampDegrees
        self.resistanceLevel = resistanceLevel
        self.watts = watts
        self.averageWatts = averageWatts
        self.workout = workout
        self.isBackward = isBackward
    }

    /// The machine type: a cross trainer.
    public static var machine: FitnessMachineKind { .crossTrainer }

    /// Decodes the complete data of a cross trainer, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        workout = WorkoutData()
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the cross trainer's data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        try fields.field(0, &kilometersPerHour, .hundredths16)
        try fields.field(1, feature: 0, &averageKilometersPerHour, .hundredths16)
        try fields.field(2, feature: 2, &meters, .uint24)
        if fields.begin(3, feature: 6, if: stepsPerMinute != nil || averageStepsPerMinute != nil) {
            try fields.number(&stepsPerMinute, .uint16, mayBeUnknown: true)
            try fields.number(&averageStepsPerMinute, .uint16, mayBeUnknown: true)
        }
        try fields.field(4, feature: 8, &strides, .tenths16)
        if fields.begin(5, feature: 4, if: metersUp != nil || metersDown != nil) {
            try fields.number(&metersUp, .uint16)
            try fields.number(&metersDown, .uint16)
        }
        if fields.begin(6, feature: 3, if: inclinationPercent != nil || rampDegrees != nil) {
            try fields.number(&inclinationPercent, .signedTenths16, mayBeUnknown: true)
            try fields.number(&rampDegrees, .signedTenths16, mayBeUnknown: true)
        }
        try fields.field(7, feature: 7, &resistanceLevel, .signedTenths16)
        try fields.field(8, feature: 14, &watts, .sint16)
        try fields.field(9, feature: 14, &averageWatts, .sint16)
        try workout.visit(&fields, from: 10)
        fields.state(15, &isBackward)
    }
}
