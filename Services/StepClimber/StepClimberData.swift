public import PeripheralFitnessMachine
public import PeripheralKit

/// The training data of a step climber.
///
/// The data is the value of the Step Climber Data, 0x2ACF (Fitness Machine Service 1.0, section 4.6).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralStepClimber
///
/// let climber = FitnessMachineService(telling: StepClimberData(floors: 0, steps: 0))
/// let peripheral = Peripheral("Climber") { climber }
/// try await peripheral.run(on: .bluez) { session in
///     for await climb in pedals.seconds {
///         try await climber.notify(StepClimberData(floors: climb.floors, steps: climb.steps), in: session)
///     }
/// }
/// ```
public struct StepClimberData: FitnessMachineData {
    /// The number of floors since the training began, 0 to 65 535.
    ///
    /// If the data is sent in several parts, only the last part contains the number of floors. The property
    /// is `nil` in the other parts.
    public var floors: Int?

    /// The number of steps since the training began, 0 to 65 535.
    ///
    /// If the data is sent in several parts, only the last part contains the number of steps. The property is
    /// `nil` in the other parts.
    public var steps: Int?

    /// The steps per minute, 0 to 65 535.
    public var stepsPerMinute: Int?

    /// The average steps per minute since the training began, 0 to 65 535.
    public var averageStepsPerMinute: Int?

    /// The meters climbed since the training began, 0 to 65 535.
    public var metersUp: Int?

    /// The energy, the heart rate and the time of the training.
    public var workout = WorkoutData()

    /// Creates training data.
    ///
    /// A value out of range is sent as the nearest value in the range.
    ///
    /// - Parameters:
    ///   - floors: The floors since the training began.
    ///   - steps: The steps since the training began.
    ///   - stepsPerMinute: The steps per minute.
    ///   - averageStepsPerMinute: The average steps per minute since the training began.
    ///   - metersUp: The meters climbed since the training began.
    ///   - workout: The energy, the heart rate and the time of the training.
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

    /// The kind of machine: a step climber.
    public static var machine: FitnessMachineKind { .stepClimber }

    /// Reads training data, or a part of the data, and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the data.
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
