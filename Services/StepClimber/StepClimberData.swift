public import PeripheralFitnessMachine
public import PeripheralKit

/// The workout data of a step climber.
///
/// This type represents the value of the Step Climber Data characteristic, 0x2ACF (Fitness Machine Service
/// 1.0, section 4.6).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralStepClimber
///
/// let climber = FitnessMachineService(reporting: StepClimberData(floors: 0, steps: 0))
/// let peripheral = Peripheral("Climber") { climber }
/// try await peripheral.run(on: .bluez) { session in
///     for await climb in pedals.seconds {
///         try await climber.notify(StepClimberData(floors: climb.floors, steps: climb.steps), in: session)
///     }
/// }
/// ```
public struct StepClimberData: FitnessMachineData {
    /// The number of floors climbed since the workout began, 0 to 65,535.
    ///
    /// If the service sends the data in several parts, only the last part contains the number of floors. The
    /// number of floors is `nil` in every part except the last.
    public var floors: Int?

    /// The number of steps since the workout began, 0 to 65,535.
    ///
    /// If the service sends the data in several parts, only the last part contains the number of steps. The
    /// number of steps is `nil` in every part except the last.
    public var steps: Int?

    /// The number of steps per minute, 0 to 65,535.
    public var stepsPerMinute: Int?

    /// The average number of steps per minute since the workout began, 0 to 65,535.
    public var averageStepsPerMinute: Int?

    /// The total ascent since the workout began, 0 to 65,535 meters.
    public var metersUp: Int?

    /// The workout values, such as the energy expended, the heart rate and the elapsed time.
    public var workout = WorkoutData()

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - floors: The number of floors climbed since the workout began.
    ///   - steps: The number of steps since the workout began.
    ///   - stepsPerMinute: The number of steps per minute.
    ///   - averageStepsPerMinute: The average number of steps per minute since the workout began.
    ///   - metersUp: The total ascent in meters since the workout began.
    ///   - workout: The workout values, such as the energy expended, the heart rate and the elapsed time.
    public init(
        floors: Int,
        steps: Int,
        stepsPerMinute: Int? = nil,
        averageStepsPerMinute: Int? = nil,
        metersUp: Int? = nil,
        workout: WorkoutData = WorkoutData()
    ) {
        self.floors = floors
        self.steps = steps
        self.stepsPerMinute = stepsPerMinute
        self.averageStepsPerMinute = averageStepsPerMinute
        self.metersUp = metersUp
        self.workout = workout
    }

    /// The machine type: a step climber.
    public static var machine: FitnessMachineKind { .stepClimber }

    /// Decodes the complete data of a step climber, or one part of the data.
    ///
    /// The initializer ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the step climber's data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        if fields.begin(0, if: floors != nil || steps != nil) {
            try fields.number(&floors, .uint16)
            try fields.number(&steps, .uint16)
        }
        try fields.field(1, feature: 6, &stepsPerMinute, .uint16)
        try fields.field(2, feature: 6, &averageStepsPerMinute, .uint16)
        try fields.field(3, feature: 4, &metersUp, .uint16)
        try workout.visit(&fields, from: 4)
    }
}
