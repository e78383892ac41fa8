public import PeripheralFitnessMachine
public import PeripheralKit

/// The workout data of an indoor bike.
///
/// This type represents the value of the Indoor Bike Data characteristic, 0x2AD2 (Fitness Machine Service
/// 1.0, section 4.9).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralIndoorBike
/// import PeripheralKit
///
/// let bike = FitnessMachineService(reporting: IndoorBikeData(kilometersPerHour: 0, rpm: 0, watts: 0))
/// let peripheral = Peripheral("Bike") { bike }
/// try await peripheral.run(on: .bluez) { session in
///     for await ride in rider.seconds {
///         let data = IndoorBikeData(kilometersPerHour: ride.speed, rpm: ride.cadence, watts: ride.power)
///         try await bike.notify(data, in: session)
///     }
/// }
/// ```
///
/// The property `workout` contains the values that all kinds of machines can report, such as the heart rate.
/// If the data contains all fields, the encoded data is 30 bytes long. If the data does not fit into one
/// notification, the service sends several notifications.
public struct IndoorBikeData: FitnessMachineData {
    /// The speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    ///
    /// If the service sends the data in several parts, only the last part contains the speed. If a part of
    /// the data does not contain the speed, the property `kilometersPerHour` is `nil`.
    public var kilometersPerHour: Double?

    /// The average speed since the workout began, in kilometers per hour.
    ///
    /// The range of the average speed is 0 to 655.35 kilometers per hour in steps of 0.01.
    public var averageKilometersPerHour: Double?

    /// The cadence in revolutions per minute, 0 to 32,767.5 in steps of 0.5.
    public var rpm: Double?

    /// The average cadence since the workout began, in revolutions per minute.
    ///
    /// The range of the average cadence is 0 to 32,767.5 in steps of 0.5.
    public var averageRPM: Double?

    /// The distance since the workout began, in meters, 0 to 16,777,215.
    public var meters: Int?

    /// The resistance level, −32,768 to 32,767.
    ///
    /// The service encodes the resistance level as two bytes. The characteristic definitions published with
    /// Fitness Machine Service 1.0 specify two bytes for the resistance level. Newer versions of the GATT
    /// Specification Supplement define one byte for a resistance level. A central that follows a newer
    /// version of the supplement misreads the fields after the resistance level. To support centrals that
    /// follow a newer version of the supplement, omit the resistance level.
    public var resistanceLevel: Int?

    /// The power in watts, −32,768 to 32,767.
    public var watts: Int?

    /// The average power since the workout began, in watts, −32,768 to 32,767.
    public var averageWatts: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout = WorkoutData()

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - kilometersPerHour: The speed.
    ///   - averageKilometersPerHour: The average speed since the workout began.
    ///   - rpm: The cadence in revolutions per minute.
    ///   - averageRPM: The average cadence since the workout began.
    ///   - meters: The distance since the workout began.
    ///   - resistanceLevel: The resistance level.
    ///   - watts: The power.
    ///   - averageWatts: The average power since the workout began.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
    public init(
        kilometersPerHour: Double,
        averageKilometersPerHour: Double? = nil,
        rpm: Double? = nil,
        averageRPM: Double? = nil,
        meters: Int? = nil,
        resistanceLevel: Int? = nil,
        watts: Int? = nil,
        averageWatts: Int? = nil,
        workout: WorkoutData = WorkoutData()
    ) {
        self.kilometersPerHour = kilometersPerHour
        self.averageKilometersPerHour = averageKilometersPerHour
        self.rpm = rpm
        self.averageRPM = averageRPM
        self.meters = meters
        self.resistanceLevel = resistanceLevel
        self.watts = watts
        self.averageWatts = averageWatts
        self.workout = workout
    }

    /// The kind of machine: an indoor bike.
    public static var machine: FitnessMachineKind { .indoorBike }

    /// Decodes the complete data of an indoor bike, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the indoor bike's data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        try fields.field(0, &kilometersPerHour, .hundredths16)
        try fields.field(1, feature: 0, &averageKilometersPerHour, .hundredths16)
        try fields.field(2, feature: 1, &rpm, .halves16)
        try fields.field(3, feature: 1, &averageRPM, .halves16)
        try fields.field(4, feature: 2, &meters, .uint24)
        try fields.field(5, feature: 7, &resistanceLevel, .sint16)
        try fields.field(6, feature: 14, &watts, .sint16)
        try fields.field(7, feature: 14, &averageWatts, .sint16)
        try workout.visit(&fields, from: 8)
    }
}
