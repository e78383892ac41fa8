public import PeripheralFitnessMachine
public import PeripheralKit

/// The workout data of a stair climber.
///
/// This type represents the value of the Stair Climber Data characteristic, 0x2AD0 (Fitness Machine Service
/// 1.0, section 4.7).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralStairClimber
///
/// let climber = FitnessMachineService(reporting: StairClimberData(floors: 0, stepsPerMinute: 0))
/// let peripheral = Peripheral("Climber") { climber }
/// try await peripheral.run(on: .bluez) { session in
///     for await climb in pedals.seconds {
///         let data = StairClimberData(floors: climb.floors, stepsPerMinute: climb.rate)
///         try await climber.notify(data, in: session)
///     }
/// }
/// ```
///
/// If the data does not fit into one notification, the service sends several notifications.
public struct StairClimberData: FitnessMachineData {
    /// The number of floors climbed since the workout began, 0 to 65,535.
    ///
    /// If the service sends the data in several parts, only the last part contains the number of floors. The
    /// number of floors is `nil` in every part except the last.
    public var floors: Int?

    /// The number of steps per minute, 0 to 65,535.
    public var stepsPerMinute: Int?

    /// The average number of steps per minute since the workout began, 0 to 65,535.
    public var averageStepsPerMinute: Int?

    /// The total ascent since the workout began, 0 to 65,535 meters.
    public var metersUp: Int?

    /// The number of strides since the workout began, 0 to 65,535.
    public var strides: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout = WorkoutData()

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - floors: The number of floors climbed since the workout began.
    ///   - stepsPerMinute: The number of steps per minute.
    ///   - averageStepsPerMinute: The average number of steps per minute since the workout began.
    ///   - metersUp: The total ascent in meters since the workout began.
    ///   - strides: The number of strides since the workout began.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
    public init(
        floors: Int,
        stepsPerMinute: Int? = nil,
        averageStepsPerMinute: Int? = nil,
        metersUp: Int? = nil,
        strides: Int? = nil,
        workout: WorkoutData = WorkoutData()
    ) {
        self.floors = floors
        self.stepsPerMinute = stepsPerMinute
        self.averageStepsPerMinute = averageStepsPerMinute
        self.metersUp = metersUp
        self.strides = strides
        self.workout = workout
    }

    /// The machine type: a stair climber.
    public static var machine: FitnessMachineKind { .stairClimber }

    /// Decodes the complete data of a stair climber, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the stair climber's data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        try fields.field(0, &floors, .uint16)
        try fields.field(1, feature: 6, &stepsPerMinute, .uint16)
        try fields.field(2, feature: 6, &averageStepsPerMinute, .uint16)
        try fields.field(3, feature: 4, &metersUp, .uint16)
        try fields.field(4, feature: 8, &strides, .uint16)
        try workout.visit(&fields, from: 5)
    }
}
