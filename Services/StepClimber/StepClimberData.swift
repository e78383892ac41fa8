public import PeripheralFitnessMachine
public import PeripheralKit

/// The training data of a step climber.
///
/// It is the value of the Step Climber Data, 0x2ACF (Fitness Machine Service 1.0, section 4.6).
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
    /// The floors since the training began, 0 to 65 535.
    ///
    /// When the data is sent in several parts, it is `nil` in every part but the last.
    public var floors: Int?

    /// The steps since the training began, 0 to 65 535.
    ///
    /// When the data is sent in several parts, it is `nil` in every part but the last.
    public var steps: Int?

    /// The steps per minute, 0 to 65 535.
    public var stepsPerMinute: Int?

    /// The average steps per minute since the training began, 0 to 65 535.
    public var averageStepsPerMinute: Int?

    /// The meters climbed since the training began, 0 to 65 535.
    public var metersUp: Int?

    /// Energy, heart rate and time.
    public var workout = WorkoutData()

    /// Creates training data.
    ///
    /// A value out of range is sent as the nearest end of the range.
    ///
    /// - Parameters:
    ///   - floors: The floors since the training began.
    ///   - steps: The steps since the training began.
    ///   - stepsPerMinute: The steps per minute.
    ///   - averageStepsPerMinute: The average steps per minute since the training began.
    ///   - metersUp: The meters climbed since the training began.
    ///   - workout: Energy, heart rate and time.
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

    /// A step climber.
    public static var machine: FitnessMachineKind { .stepClimber }

    /// Reads a measurement or a part of one, and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields.
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
