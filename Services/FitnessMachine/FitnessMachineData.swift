public import PeripheralKit

/// What a machine of some kind tells of a training, such as `IndoorBikeData`: the value of its data characteristic.
///
/// The kinds that there are have types, in the products `PeripheralIndoorBike`, `PeripheralTreadmill`, `PeripheralCrossTrainer`,
/// `PeripheralRower`, `PeripheralStepClimber` and `PeripheralStairClimber`. The specification has no others: it is for code that
/// works with any of them, not for further types to conform to. It is public because ``FitnessMachineService`` is generic over
/// it; what reads and writes the fields is not.
public protocol FitnessMachineData: GATTValue, Equatable {
    /// The kind of machine.
    static var machine: FitnessMachineKind { get }

    /// Reads or writes the fields.
    mutating func visit(_ fields: inout FitnessMachineFields) throws(GATTDecodingError)
}

extension FitnessMachineData {
    /// Appends the flags, and then the fields that there are.
    public func encode(into writer: inout ByteWriter) {
        for value in fields().values(of: Self.machine, upTo: .max) { writer.write(value) }
    }

    /// What is sent when a notification takes at most so many bytes: all in one, or in several.
    ///
    /// Each but the last lacks what is there in every measurement, as the speed of an indoor bike, by which centrals know that
    /// there is more to come (Fitness Machine Service 1.0, section 4.19).
    ///
    /// - Parameter maximum: The bytes that there is room for: at least 20.
    /// - Returns: The parts, in the order of sending.
    public func parts(upTo maximum: Int) -> [Self] {
        parts(upTo: maximum, telling: .max)
    }

    /// The same of what these bits of the Fitness Machine Features stand for.
    func parts(upTo maximum: Int, telling features: UInt32) -> [Self] {
        // What has been written can be read.
        fields(telling: features).values(of: Self.machine, upTo: max(maximum, 20))
            .compactMap { try? Self(gattBytes: $0) }
    }

    /// Tells whether both are the same on the air.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.gattBytes == rhs.gattBytes
    }

    func fields(telling features: UInt32 = .max) -> FitnessMachineFields {
        var (data, fields) = (self, FitnessMachineFields(telling: features))
        // It is reading that may fail.
        try? data.visit(&fields)
        return fields
    }
}

/// A kind of fitness machine.
public struct FitnessMachineKind: Sendable {
    /// The type of the characteristic that has its data.
    public let characteristic: BluetoothUUID

    /// The bytes of the flags in the data.
    let flagsSize: Int

    /// What stands for it in advertisements (Fitness Machine Service 1.0, section 3.1.2).
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

/// What all machines can tell of a training: energy, heart and time.
public struct WorkoutData: Sendable {
    /// The energy expended since the training began, in kilocalories, 0 to 65 534; `nil` when it is not known.
    public var kilocalories: Int?

    /// The energy expended in an hour, in kilocalories, 0 to 65 534; `nil` when it is not known.
    public var kilocaloriesPerHour: Int?

    /// The energy expended in a minute, in kilocalories, 0 to 254; `nil` when it is not known.
    public var kilocaloriesPerMinute: Int?

    /// The heart rate in beats per minute, 0 to 255.
    public var bpm: Int?

    /// The metabolic equivalent of the training, 0 to 25.5 in steps of 0.1: 1 is rest.
    public var metabolicEquivalent: Double?

    /// The time since the training began, in seconds, 0 to 65 535.
    public var elapsedSeconds: Int?

    /// The time until the training ends, in seconds, 0 to 65 535.
    public var remainingSeconds: Int?

    /// Makes what is told; what is out of range is sent as the end of the range.
    ///
    /// - Parameters:
    ///   - kilocalories: The energy expended since the training began.
    ///   - kilocaloriesPerHour: The energy expended in an hour.
    ///   - kilocaloriesPerMinute: The energy expended in a minute.
    ///   - bpm: The heart rate in beats per minute.
    ///   - metabolicEquivalent: The metabolic equivalent.
    ///   - elapsedSeconds: The time since the training began.
    ///   - remainingSeconds: The time until it ends.
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

    /// Reads or writes the fields, which have five flags one after the other in the data of every machine.
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
