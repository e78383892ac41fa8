public import PeripheralFitnessMachine
public import PeripheralKit

/// The workout data of a treadmill.
///
/// This type represents the value of the Treadmill Data characteristic, 0x2ACD (Fitness Machine Service 1.0,
/// section 4.4).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralTreadmill
///
/// let treadmill = FitnessMachineService(reporting: TreadmillData(kilometersPerHour: 0, meters: 0))
/// let peripheral = Peripheral("Treadmill") { treadmill }
/// try await peripheral.run(on: .bluez) { session in
///     for await stride in belt.seconds {
///         let data = TreadmillData(kilometersPerHour: stride.speed, meters: stride.distance)
///         try await treadmill.notify(data, in: session)
///     }
/// }
/// ```
///
/// The service encodes the pace, in kilometers per minute, as one byte. The characteristic definitions
/// published with Fitness Machine Service 1.0 specify one byte for the pace.
public struct TreadmillData: FitnessMachineData {
    /// The speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    ///
    /// If the service sends the data in several parts, only the last part contains the speed. If a part of
    /// the data does not contain the speed, the property `kilometersPerHour` is `nil`.
    public var kilometersPerHour: Double?

    /// The average speed since the workout began, in kilometers per hour.
    ///
    /// The range of the average speed is 0 to 655.35 kilometers per hour in steps of 0.01.
    public var averageKilometersPerHour: Double?

    /// The distance since the workout began, in meters, 0 to 16,777,215.
    public var meters: Int?

    /// The inclination in percent, or `nil` if the inclination is not known.
    ///
    /// The range of the inclination is −3276.8 to 3276.6 percent in steps of 0.1.
    public var inclinationPercent: Double?

    /// The angle of the ramp in degrees, or `nil` if the angle is not known.
    ///
    /// The range of the angle is −3276.8 to 3276.6 degrees in steps of 0.1.
    public var rampDegrees: Double?

    /// The total ascent since the workout began, 0 to 6553.5 meters in steps of 0.1.
    ///
    /// If only ``metersDown`` has a value, the service sends 0 for the total ascent.
    public var metersUp: Double?

    /// The total descent since the workout began, 0 to 6553.5 meters in steps of 0.1.
    ///
    /// If only ``metersUp`` has a value, the service sends 0 for the total descent.
    public var metersDown: Double?

    /// The pace in kilometers per minute, 0 to 25.5 in steps of 0.1.
    ///
    /// The service encodes the pace as one byte. The characteristic definitions published with Fitness
    /// Machine Service 1.0 specify one byte for the pace. Newer versions of the GATT Specification Supplement
    /// define a two-byte pace in seconds per 500 meters. A central that follows a newer version of the
    /// supplement misreads all fields after the pace. To support centrals that follow a newer version of the
    /// supplement, omit the pace.
    public var kilometersPerMinute: Double?

    /// The average pace since the workout began, in kilometers per minute.
    ///
    /// The range of the average pace is 0 to 25.5 in steps of 0.1.
    ///
    /// The service encodes the average pace as one byte. The characteristic definitions published with
    /// Fitness Machine Service 1.0 specify one byte for the average pace. Newer versions of the GATT
    /// Specification Supplement define a two-byte average pace in seconds per 500 meters. A central that
    /// follows a newer version of the supplement misreads all fields after the average pace. To support
    /// centrals that follow a newer version of the supplement, omit the average pace.
    public var averageKilometersPerMinute: Double?

    /// The force on the belt in newtons, or `nil` if the force is not known.
    ///
    /// The range of the force is −32,768 to 32,766 newtons.
    public var newtons: Int?

    /// The power in watts, or `nil` if the power is not known.
    ///
    /// The range of the power is −32,768 to 32,766 watts.
    public var watts: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout = WorkoutData()

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - kilometersPerHour: The speed.
    ///   - averageKilometersPerHour: The average speed since the workout began.
    ///   - meters: The distance since the workout began.
    ///   - inclinationPercent: The inclination.
    ///   - rampDegrees: The angle of the ramp.
    ///   - metersUp: The total ascent in meters since the workout began.
    ///   - metersDown: The total descent in meters since the workout began.
    ///   - kilometersPerMinute: The pace.
    ///   - averageKilometersPerMinute: The average pace since the workout began.
    ///   - newtons: The force on the belt.
    ///   - watts: The power.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
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

    /// The machine type: a treadmill.
    public static var machine: FitnessMachineKind { .treadmill }

    /// Decodes the complete data of a treadmill, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the treadmill's data.
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
