public import PeripheralFitnessMachine
public import PeripheralKit

/// The training data of a treadmill.
///
/// The data is the value of the Treadmill Data, 0x2ACD (Fitness Machine Service 1.0, section 4.4).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralTreadmill
///
/// let treadmill = FitnessMachineService(telling: TreadmillData(kilometersPerHour: 0, meters: 0))
/// let peripheral = Peripheral("Treadmill") { treadmill }
/// try await peripheral.run(on: .bluez) { session in
///     for await stride in belt.seconds {
///         let data = TreadmillData(kilometersPerHour: stride.speed, meters: stride.distance)
///         try await treadmill.notify(data, in: session)
///     }
/// }
/// ```
///
/// The pace has one byte, in kilometers per minute, as in the original definition of version 1.0.
public struct TreadmillData: FitnessMachineData {
    /// The speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    ///
    /// If the data is sent in several parts, only the last part contains the speed. The property is `nil` in
    /// the other parts.
    public var kilometersPerHour: Double?

    /// The average speed since the training began, in kilometers per hour.
    ///
    /// The range is 0 to 655.35 in steps of 0.01.
    public var averageKilometersPerHour: Double?

    /// The distance since the training began, in meters, 0 to 16 777 215.
    public var meters: Int?

    /// The inclination in percent, or `nil` if the inclination is not known.
    ///
    /// The range is −3276.8 to 3276.6 in steps of 0.1.
    public var inclinationPercent: Double?

    /// The angle of the ramp in degrees, or `nil` if the angle is not known.
    ///
    /// The range is −3276.8 to 3276.6 in steps of 0.1.
    public var rampDegrees: Double?

    /// The meters climbed since the training began, 0 to 6553.5 in steps of 0.1.
    ///
    /// If only the descended meters are known, `nil` is sent as 0.
    public var metersUp: Double?

    /// The meters descended since the training began, 0 to 6553.5 in steps of 0.1.
    ///
    /// If only the climbed meters are known, `nil` is sent as 0.
    public var metersDown: Double?

    /// The pace in kilometers per minute, 0 to 25.5 in steps of 0.1.
    ///
    /// The pace has one byte, as in the original definition of version 1.0. A central that follows a newer
    /// GATT Specification Supplement reads two bytes, as seconds per 500 meters, and misreads the following
    /// fields. Omit the pace for such centrals.
    public var kilometersPerMinute: Double?

    /// The average pace since the training began, in kilometers per minute.
    ///
    /// The range is 0 to 25.5 in steps of 0.1.
    ///
    /// The pace has one byte, as in the original definition of version 1.0. A central that follows a newer
    /// GATT Specification Supplement reads two bytes, as seconds per 500 meters, and misreads the following
    /// fields. Omit the pace for such centrals.
    public var averageKilometersPerMinute: Double?

    /// The force on the belt in newtons, or `nil` if the force is not known.
    ///
    /// The range is −32 768 to 32 766.
    public var newtons: Int?

    /// The power in watts, or `nil` if the power is not known.
    ///
    /// The range is −32 768 to 32 766.
    public var watts: Int?

    /// The energy, the heart rate and the time of the training.
    public var workout = WorkoutData()

    /// Creates training data.
    ///
    /// A value out of range is sent as the nearest value in the range.
    ///
    /// - Parameters:
    ///   - kilometersPerHour: The speed.
    ///   - averageKilometersPerHour: The average speed since the training began.
    ///   - meters: The distance since the training began.
    ///   - inclinationPercent: The inclination.
    ///   - rampDegrees: The angle of the ramp.
    ///   - metersUp: The meters climbed since the training began.
    ///   - metersDown: The meters descended since the training began.
    ///   - kilometersPerMinute: The pace.
    ///   - averageKilometersPerMinute: The average pace since the training began.
    ///   - newtons: The force on the belt.
    ///   - watts: The power.
    ///   - workout: The energy, the heart rate and the time of the training.
    public init(
        kilometersPerHour: Double,
        averageKilometersPerHour: Double? = nil,
        meters: Int? = nil,
        inclinationPercent: Double? = nil,
        rampDegrees: Double? = nil,
        metersUp: Double? = nil,
        metersDown: Double? = nil,
        kilometersPerMinute: Double? = nil,
        averageKilometersPerMinute: Double? = nil,
        newtons: Int? = nil,
        watts: Int? = nil,
        workout: WorkoutData = WorkoutData()
    ) {
        self.kilometersPerHour = kilometersPerHour
        self.averageKilometersPerHour = averageKilometersPerHour
        self.meters = meters
        self.inclinationPercent = inclinationPercent
        self.rampDegrees = rampDegrees
        self.metersUp = metersUp
        self.metersDown = metersDown
        self.kilometersPerMinute = kilometersPerMinute
        self.averageKilometersPerMinute = averageKilometersPerMinute
        self.newtons = newtons
        self.watts = watts
        self.workout = workout
    }

    /// The kind of machine: a treadmill.
    public static var machine: FitnessMachineKind { .treadmill }

    /// Reads training data, or a part of the data, and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        try fields.field(0, &kilometersPerHour, .hundredths16)
        try fields.field(1, feature: 0, &averageKilometersPerHour, .hundredths16)
        try fields.field(2, feature: 2, &meters, .uint24)
        if fields.begin(3, feature: 3, if: inclinationPercent != nil || rampDegrees != nil) {
            try fields.number(&inclinationPercent, .signedTenths16, mayBeUnknown: true)
            try fields.number(&rampDegrees, .signedTenths16, mayBeUnknown: true)
        }
        if fields.begin(4, feature: 4, if: metersUp != nil || metersDown != nil) {
            try fields.number(&metersUp, .tenths16)
            try fields.number(&metersDown, .tenths16)
        }
        try fields.field(5, feature: 5, &kilometersPerMinute, .tenths8)
        try fields.field(6, feature: 5, &averageKilometersPerMinute, .tenths8)
        try workout.visit(&fields, from: 7)
        if fields.begin(12, feature: 15, if: newtons != nil || watts != nil) {
            try fields.number(&newtons, .sint16, mayBeUnknown: true)
            try fields.number(&watts, .sint16, mayBeUnknown: true)
        }
    }
}
