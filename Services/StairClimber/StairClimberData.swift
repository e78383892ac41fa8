public import PeripheralFitnessMachine
public import PeripheralKit

/// The training data of a stair climber.
///
/// The data is the value of the Stair Climber Data, 0x2AD0 (Fitness Machine Service 1.0, section 4.7).
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralKit
/// import PeripheralStairClimber
///
/// let climber = FitnessMachineService(telling: StairClimberData(floors: 0, stepsPerMinute: 0))
/// let peripheral = Peripheral("Climber") { climber }
/// try await peripheral.run(on: .bluez) { session in
///     for await climb in pedals.seconds {
///         let data = StairClimberData(floors: climb.floors, stepsPerMinute: climb.rate)
///         try await climber.notify(data, in: session)
///     }
/// }
/// ```
///
/// Data that does not fit into one notification is sent in several notifications.
public struct StairClimberData: FitnessMachineData {
    /// The number of floors since the training began, 0 to 65 535.
    ///
    /// If the data is sent in several parts, only the last part contains the number of floors. The property
    /// is `nil` in the other parts.
    public var floors: Int?

    /// The steps per minute, 0 to 65 535.
    public var stepsPerMinute: Int?

    /// The average steps per minute since the training began, 0 to 65 535.
    public var averageStepsPerMinute: Int?

    /// The meters climbed since the training began, 0 to 65 535.
    public var metersUp: Int?

    /// The number of strides since the training began, 0 to 65 535.
    public var strides: Int?

    /// The energy, the heart rate and the time of the training.
    public var workout = WorkoutData()

    /// Creates training data.
    ///
    /// A value out of range is sent as the nearest value in the range.
    ///
    /// - Parameters:
    ///   - floors: The floors since the training began.
    ///   - stepsPerMinute: The steps per minute.
    ///   - averageStepsPerMinute: The average steps per minute since the training began.
    ///   - metersUp: The meters climbed since the training began.
    ///   - strides: The strides since the training began.
    ///   - workout: The energy, the heart rate and the time of the training.
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

    /// The kind of machine: a stair climber.
    public static var machine: FitnessMachineKind { .stairClimber }

    /// Reads training data, or a part of the data, and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        var fields = try FitnessMachineFields(reading: reader, of: Self.machine)
        try visit(&fields)
        reader = fields.rest
    }

    /// Reads or writes the fields of the data.
    public mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError) {
        try fields.field(0, &floors, .uint16)
        try fields.field(1, feature: 6, &stepsPerMinute, .uint16)
        try fields.field(2, feature: 6, &averageStepsPerMinute, .uint16)
        try fields.field(3, feature: 4, &metersUp, .uint16)
        try fields.field(4, feature: 8, &strides, .uint16)
        try workout.visit(&fields, from: 5)
    }
}
