public import PeripheralKit

/// The data that a fitness machine reports, such as `IndoorBikeData`.
///
/// A conforming type represents the value of a machine's data characteristic, such as Indoor Bike Data,
/// 0x2AD2. The conforming types are in the products `PeripheralIndoorBike`, `PeripheralTreadmill`,
/// `PeripheralCrossTrainer`, `PeripheralRower`, `PeripheralStepClimber` and `PeripheralStairClimber`.
///
/// Use the protocol in generic code for any kind of machine. Do not declare other types that conform to the
/// protocol. The package contains a conforming type for each machine that the Fitness Machine Service
/// specification defines. The protocol is public because ``FitnessMachineService`` uses the protocol as a
/// generic constraint. The code that reads and writes the data fields is not public.
public protocol FitnessMachineData: GATTValue, Equatable {
    /// The kind of machine.
    static var machine: FitnessMachineKind { get }

    /// Reads or writes the fields of the machine's data.
    mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError)
}

extension FitnessMachineData {
    /// Appends the flags and all fields that contain a value.
    public func encode(into writer: inout ByteWriter) {
        for value in fields().values(of: Self.machine, upTo: .max) { writer.write(value) }
    }

    /// Divides the data into parts that each fit into one notification.
    ///
    /// If the data fits into one notification, the method returns one part. Only the last part contains the
    /// mandatory field of the data, such as the speed of an indoor bike. If a part does not contain the
    /// mandatory field, the central waits for the next part (Fitness Machine Service 1.0, section 4.19).
    ///
    /// - Parameter maximum: The maximum number of bytes in a notification, at least 20.
    /// - Returns: The parts of the data, in the order of transmission.
    public func parts(upTo maximum: Int) -> [Self] {
        parts(upTo: maximum, reporting: .max)
    }

    /// The parts with only the fields for these bits of the Fitness Machine Features.
    func parts(upTo maximum: Int, reporting features: UInt32) -> [Self] {
        // Encoded data can always be decoded.
        fields(reporting: features).values(of: Self.machine, upTo: max(maximum, 20))
            .compactMap { try? Self(gattBytes: $0) }
    }

    /// Returns whether the encoded bytes of two values are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.gattBytes == rhs.gattBytes
    }

    func fields(reporting features: UInt32 = .max) -> FitnessMachineFields {
        var (data, fields) = (self, FitnessMachineFields(reporting: features))
        // Only reading can fail.
        try? data.visit(&fields)
        return fields
    }
}

/// A kind of fitness machine.
public struct FitnessMachineKind: Sendable {
    /// The UUID of the characteristic for the machine's data.
    public let characteristic: BluetoothUUID

    /// The number of bytes of the flags in the data.
    let flagsSize: Int

    /// The bit for the machine in advertisements (Fitness Machine Service 1.0, section 3.1.2).
    let advertisedBit: UInt16

    private init(_ characteristic: BluetoothUUID, bit: Int, flagsSize: Int = 2) {
        self.characteristic = characteristic
        self.flagsSize = flagsSize
        advertisedBit = 1 << bit
    }

    /// A treadmill.
    public static var treadmill: FitnessMachineKind { FitnessMachineKind(.treadmillData, bit: 0) }
    /// A cross trainer.
    public static var crossTrainer: FitnessMachineKind {
        FitnessMachineKind(.crossTrainerData, bit: 1, flagsSize: 3)
    }
    /// A step climber.
    public static var stepClimber: FitnessMachineKind { FitnessMachineKind(.stepClimberData, bit: 2) }
    /// A stair climber.
    public static var stairClimber: FitnessMachineKind { FitnessMachineKind(.stairClimberData, bit: 3) }
    /// A rower.
    public static var rower: FitnessMachineKind { FitnessMachineKind(.rowerData, bit: 4) }
    /// An indoor bike.
    public static var indoorBike: FitnessMachineKind { FitnessMachineKind(.indoorBikeData, bit: 5) }
}

/// The workout values that all machines can report: energy, heart rate and time.
public struct WorkoutData: Sendable {
    /// The energy expended since the workout began, in kilocalories.
    ///
    /// The range is 0 to 65,534 kilocalories. The property is `nil` if the energy is unknown.
    public var kilocalories: Int?

    /// The energy expended per hour, in kilocalories.
    ///
    /// The range is 0 to 65,534 kilocalories. The property is `nil` if the energy is unknown.
    public var kilocaloriesPerHour: Int?

    /// The energy expended per minute, in kilocalories.
    ///
    /// The range is 0 to 254 kilocalories. The property is `nil` if the energy is unknown.
    public var kilocaloriesPerMinute: Int?

    /// The heart rate in beats per minute, 0 to 255.
    public var bpm: Int?

    /// The metabolic equivalent of the workout, 0 to 25.5 in steps of 0.1.
    ///
    /// A metabolic equivalent of 1 represents a person at rest.
    public var metabolicEquivalent: Double?

    /// The time since the workout began, in seconds, 0 to 65,535.
    public var elapsedSeconds: Int?

    /// The time until the workout ends, in seconds, 0 to 65,535.
    public var remainingSeconds: Int?

    /// Creates workout data.
    ///
    /// If a value is out of range, the service sends the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - kilocalories: The energy expended since the workout began.
    ///   - kilocaloriesPerHour: The energy expended per hour.
    ///   - kilocaloriesPerMinute: The energy expended per minute.
    ///   - bpm: The heart rate in beats per minute.
    ///   - metabolicEquivalent: The metabolic equivalent.
    ///   - elapsedSeconds: The time since the workout began.
    ///   - remainingSeconds: The time until the workout ends.
    public init(
        kilocalories: Int? = nil,
        kilocaloriesPerHour: Int? = nil,
        kilocaloriesPerMinute: Int? = nil,
        bpm: Int? = nil,
        metabolicEquivalent: Double? = nil,
        elapsedSeconds: Int? = nil,
        remainingSeconds: Int? = nil
    ) {
        self.kilocalories = kilocalories
        self.kilocaloriesPerHour = kilocaloriesPerHour
        self.kilocaloriesPerMinute = kilocaloriesPerMinute
        self.bpm = bpm
        self.metabolicEquivalent = metabolicEquivalent
        self.elapsedSeconds = elapsedSeconds
        self.remainingSeconds = remainingSeconds
    }

    /// Reads or writes the fields of the workout data.
    ///
    /// The workout fields use five consecutive flags in the data of every machine.
    package mutating func visit(
        _ fields: inout FitnessMachineFields,
        from flag: Int
    ) throws(GATTDecodingError) {
        let hasEnergy = kilocalories != nil || kilocaloriesPerHour != nil || kilocaloriesPerMinute != nil
        if fields.begin(flag, feature: 9, if: hasEnergy) {
            try fields.number(&kilocalories, .uint16, mayBeUnknown: true)
            try fields.number(&kilocaloriesPerHour, .uint16, mayBeUnknown: true)
            try fields.number(&kilocaloriesPerMinute, .uint8, mayBeUnknown: true)
        }
        try fields.field(flag + 1, feature: 10, &bpm, .uint8)
        try fields.field(flag + 2, feature: 11, &metabolicEquivalent, .tenths8)
        try fields.field(flag + 3, feature: 12, &elapsedSeconds, .uint16)
        try fields.field(flag + 4, feature: 13, &remainingSeconds, .uint16)
    }
}
