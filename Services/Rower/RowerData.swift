public import PeripheralFitnessMachine
public import PeripheralKit

/// The workout data of a rowing machine.
///
/// This type represents the value of the Rower Data characteristic, 0x2AD1 (Fitness Machine Service 1.0,
/// section 4.8).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralRower
///
/// let rower = FitnessMachineService(reporting: RowerData(strokesPerMinute: 0, strokes: 0, watts: 0))
/// let peripheral = Peripheral("Rower") { rower }
/// try await peripheral.run(on: .bluez) { session in
///     for await pull in oar.seconds {
///         let data = RowerData(strokesPerMinute: pull.rate, strokes: pull.count, watts: pull.power)
///         try await rower.notify(data, in: session)
///     }
/// }
/// ```
public struct RowerData: FitnessMachineData {
    /// The number of strokes per minute, 0 to 127.5 in steps of 0.5.
    ///
    /// If the service sends the data in several parts, only the last part contains the stroke rate. The
    /// stroke rate is `nil` in every part except the last.
    public var strokesPerMinute: Double?

    /// The number of strokes since the workout began, 0 to 65,535.
    ///
    /// If the service sends the data in several parts, only the last part contains the number of strokes. The
    /// number of strokes is `nil` in every part except the last.
    public var strokes: Int?

    /// The average number of strokes per minute since the workout began.
    ///
    /// The range of the average stroke rate is 0 to 127.5 in steps of 0.5.
    public var averageStrokesPerMinute: Double?

    /// The distance since the workout began, in meters, 0 to 16,777,215.
    public var meters: Int?

    /// The pace in seconds per 500 meters, 0 to 65,535.
    public var secondsPer500Meters: Int?

    /// The average pace since the workout began, in seconds per 500 meters.
    ///
    /// The range of the average pace is 0 to 65,535.
    public var averageSecondsPer500Meters: Int?

    /// The power in watts, −32,768 to 32,767.
    public var watts: Int?

    /// The average power since the workout began, in watts, −32,768 to 32,767.
    public var averageWatts: Int?

    /// The resistance level, −32,768 to 32,767.
    ///
    /// The service encodes the resistance level as two bytes. The characteristic definitions published with
    /// Fitness Machine Service 1.0 specify two bytes for the resistance level. Newer versions of the GATT
    /// Specification Supplement define one byte for a resistance level. A central that follows a newer
    /// version of the supplement misreads the fields after the resistance level. To support centrals that
    /// follow a newer version of the supplement, omit the resistance level.
    public var resistanceLevel: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout = WorkoutData()

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - strokesPerMinute: The number of strokes per minute.
    ///   - strokes: The number of strokes since the workout began.
    ///   - averageStrokesPerMinute: The average number of strokes per minute since the workout began.
    ///   - meters: The distance since the workout began.
    ///   - secondsPer500Meters: The pace.
    ///   - averageSecondsPer500Meters: The average pace since the workout began.
    ///   - watts: The power.
    ///   - averageWatts: The average power since the workout began.
    ///   - resistanceLevel: The resistance level.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
    public init(
        strokesPerMinute: Double,
        strokes: Int,
        averageStrokesPerMinute: Double? = nil,
        meters: Int? = nil,
        secondsPer500Meters: Int? = nil,
        averageSecondsPer500Meters: Int? = nil,
        watts: Int? = nil,
        averageWatts: Int? = nil,
        resistanceLevel: Int? = nil,
        workout: WorkoutData = WorkoutData()
    ) {
        self.strokesPerMinute = strokesPerMinute
        self.strokes = strokes
        self.averageStrokesPerMinute = averageStrokesPerMinute
        self.meters = meters
        self.secondsPer500Meters = secondsPer500Meters
        self.averageSecondsPer500Meters = averageSecondsPer500Meters
        self.watts = watts
        self.averageWatts = averageWatts
        self.resistanceLevel = resistanceLevel
        self.workout = workout
    }

    /// The machine type: a rowing machine.
    public static var machine: FitnessMachineKind { .rower }

    /// Decodes the complete data of a rowing machine, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the rowing machine's data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        if fields.begin(0, if: strokesPerMinute != nil || strokes != nil) {
            try fields.number(&strokesPerMinute, .halves8)
            try fields.number(&strokes, .uint16)
        }
        try fields.field(1, feature: 1, &averageStrokesPerMinute, .halves8)
        try fields.field(2, feature: 2, &meters, .uint24)
        try fields.field(3, feature: 5, &secondsPer500Meters, .uint16)
        try fields.field(4, feature: 5, &averageSecondsPer500Meters, .uint16)
        try fields.field(5, feature: 14, &watts, .sint16)
        try fields.field(6, feature: 14, &averageWatts, .sint16)
        try fields.field(7, feature: 7, &resistanceLevel, .sint16)
        try workout.visit(&fields, from: 8)
    }
}
