public import PeripheralFitnessMachine
public import PeripheralKit

/// The data that a cross trainer reports about a training.
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
/// let trainer = FitnessMachineService(telling: CrossTrainerData(kilometersPerHour: 0, watts: 0))
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
    /// The speed is `nil` in every part of the data except the last part.
    public var kilometersPerHour: Double?

    /// The average speed since the training began, in kilometers per hour.
    ///
    /// The range is 0 to 655.35 in steps of 0.01.
    public var averageKilometersPerHour: Double?

    /// The distance since the training began, in meters, 0 to 16,777,215.
    public var meters: Int?

    /// The steps per minute, 0 to 65,534; `nil` when unknown.
    public var stepsPerMinute: Int?

    /// The average steps per minute since the training began, 0 to 65,534; `nil` when unknown.
    public var averageStepsPerMinute: Int?

    /// The strides since the training began, 0 to 6553.5 in steps of 0.1.
    public var strides: Double?

    /// The meters climbed since the training began, 0 to 65,535.
    ///
    /// `nil` is sent as 0 when there is a value for ``metersDown``.
    public var metersUp: Int?

    /// The meters descended since the training began, 0 to 65,535.
    ///
    /// `nil` is sent as 0 when there is a value for ``metersUp``.
    public var metersDown: Int?

    /// The inclination in percent, −3276.8 to 3276.6 in steps of 0.1; `nil` when unknown.
    public var inclinationPercent: Double?

    /// The angle of the ramp in degrees, −3276.8 to 3276.6 in steps of 0.1; `nil` when unknown.
    public var rampDegrees: Double?

    /// The resistance level, −3276.8 to 3276.7 in steps of 0.1.
    ///
    /// The field has two bytes, as in the definition published with version 1.0. A central that follows a
    /// newer GATT Specification Supplement reads one byte, and misreads the following fields. Omit the level
    /// for such centrals.
    public var resistanceLevel: Double?

    /// The power in watts, −32,768 to 32,767.
    public var watts: Int?

    /// The average power since the training began, in watts, −32,768 to 32,767.
    public var averageWatts: Int?

    /// The energy, the heart rate and the time.
    public var workout: WorkoutData

    /// Whether the user moves backward.
    public var isBackward = false

    /// Creates the data of a cross trainer.
    ///
    /// A value outside its range is sent as the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - kilometersPerHour: The speed.
    ///   - averageKilometersPerHour: The average speed since the training began.
    ///   - meters: The distance since the training began.
    ///   - stepsPerMinute: The steps per minute.
    ///   - averageStepsPerMinute: The average steps per minute since the training began.
    ///   - strides: The strides since the training began.
    ///   - metersUp: The meters climbed since the training began.
    ///   - metersDown: The meters descended since the training began.
    ///   - inclinationPercent: The inclination.
    ///   - rampDegrees: The angle of the ramp.
    ///   - resistanceLevel: The resistance level.
    ///   - watts: The power.
    ///   - averageWatts: The average power since the training began.
    ///   - workout: The energy, the heart rate and the time.
    ///   - isBackward: Whether the user moves backward.
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

    /// A cross trainer.
    public static var machine: FitnessMachineKind { .crossTrainer }

    /// Reads a measurement or a part of a measurement, and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        workout = WorkoutData()
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields.
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
