public import PeripheralKit

/// The context of a glucose measurement, such as a meal or exercise.
///
/// The user reports the context of the measurement.
///
/// `GlucoseContext` represents the value of the Glucose Measurement Context characteristic, 0x2A34 (Glucose
/// Service 1.0.1, section 3.2).
///
/// ```swift
/// GlucoseContext(meal: .fasting, exercise: .init(seconds: 1800, intensity: 60))
/// ```
///
/// A ``GlucoseService`` copies the sequence number from the measurement to the context.
public struct GlucoseContext: Hashable, Sendable {
    /// A carbohydrate intake.
    public struct Carbohydrate: Hashable, Sendable {
        /// The kind of meal in which the carbohydrate was consumed.
        public var kind: GlucoseCarbohydrateKind
        /// The amount of carbohydrate in kilograms.
        public var kilograms: MedicalShortFloat

        /// Creates a carbohydrate intake from an amount in whole grams, up to 2045.
        public init(_ kind: GlucoseCarbohydrateKind, grams: Int) {
            self.kind = kind
            kilograms = .scaled(grams, exponent: -3)
        }
    }

    /// The duration and the intensity of exercise.
    public struct Exercise: Hashable, Sendable {
        /// The duration of the exercise in seconds.
        ///
        /// The value 65,535 represents a duration of 65,535 seconds or more.
        public var seconds: UInt16
        /// The intensity of the exercise in percent.
        public var intensity: UInt8

        /// Creates exercise data from a duration in seconds and an intensity in percent.
        public init(seconds: UInt16, intensity: UInt8) {
            self.seconds = seconds
            self.intensity = intensity
        }
    }

    /// A medication that the user has taken.
    public struct Medication: Hashable, Sendable {
        /// The amount of a medication.
        public enum Amount: Hashable, Sendable {
            /// An amount of medication in kilograms.
            case kilograms(MedicalShortFloat)
            /// An amount of medication in liters.
            case liters(MedicalShortFloat)

            /// Creates an amount of medication from a whole number of milligrams, up to 2045.
            public static func milligrams(_ count: Int) -> Amount { .kilograms(.scaled(count, exponent: -6)) }
            /// Creates an amount of medication from a whole number of milliliters, up to 2045.
            public static func milliliters(_ count: Int) -> Amount { .liters(.scaled(count, exponent: -3)) }
        }

        /// The kind of medication.
        public var kind: GlucoseMedicationKind
        /// The amount of the medication.
        public var amount: Amount

        /// Creates a medication from a kind and an amount.
        public init(_ kind: GlucoseMedicationKind, _ amount: Amount) {
            self.kind = kind
            self.amount = amount
        }
    }

    /// The sequence number of the measurement to which the context belongs.
    public var sequenceNumber: UInt16
    /// The extended flags of the context.
    ///
    /// All extended flags are reserved. The property is `nil` if the context has no extended flags.
    public var extendedFlags: UInt8?
    /// The carbohydrate intake.
    public var carbohydrate: Carbohydrate?
    /// The time of the measurement relative to a meal.
    public var meal: GlucoseMeal?
    /// The person or laboratory that took the measurement, and the health of the user.
    public var circumstances: GlucoseCircumstances?
    /// The exercise.
    public var exercise: Exercise?
    /// The medication.
    public var medication: Medication?
    /// The hemoglobin A1c (HbA1c) level of the user in percent.
    public var hbA1c: MedicalShortFloat?

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - sequenceNumber: The sequence number of the measurement. When a ``GlucoseService`` sends the
    ///     context, the service sets the sequence number.
    ///   - carbohydrate: The carbohydrate intake.
    ///   - meal: The time of the measurement relative to a meal.
    ///   - circumstances: The person or laboratory that took the measurement, and the health of the user.
    ///   - exercise: The exercise.
    ///   - medication: The medication.
    ///   - hbA1c: The hemoglobin A1c (HbA1c) level of the user in percent.
    public init(
        sequenceNumber: UInt16 = 0,
        carbohydrate: Carbohydrate? = nil,
        meal: GlucoseMeal? = nil,
        circumstances: GlucoseCircumstances? = nil,
        exercise: Exercise? = nil,
        medication: Medication? = nil,
        hbA1c: MedicalShortFloat? = nil
    ) {
        self.sequenceNumber = sequenceNumber
        self.carbohydrate = carbohydrate
        self.meal = meal
        self.circumstances = circumstances
        self.exercise = exercise
        self.medication = medication
        self.hbA1c = hbA1c
    }
}

extension GlucoseContext: GATTValue {
    /// Reads a context.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        self.init(sequenceNumber: try reader.read())
        if flags & Flag.extendedFlags != 0 { extendedFlags = try reader.read() }
        if flags & Flag.carbohydrate != 0 {
            let kind = GlucoseCarbohydrateKind(rawValue: try reader.read())
            var amount = Carbohydrate(kind, grams: 0)
            amount.kilograms = try MedicalShortFloat(decoding: &reader)
            carbohydrate = amount
        }
        if flags & Flag.meal != 0 { meal = GlucoseMeal(rawValue: try reader.read()) }
        if flags & Flag.circumstances != 0 {
            let both: UInt8 = try reader.read()
            circumstances = GlucoseCircumstances(
                tester: GlucoseTester(rawValue: both & 0x0F),
                health: GlucoseHealth(rawValue: both >> 4)
            )
        }
        if flags & Flag.exercise != 0 {
            exercise = Exercise(seconds: try reader.read(), intensity: try reader.read())
        }
        if flags & Flag.medication != 0 {
            let kind = GlucoseMedicationKind(rawValue: try reader.read())
            let value = try MedicalShortFloat(decoding: &reader)
            medication = Medication(kind, flags & Flag.liters != 0 ? .liters(value) : .kilograms(value))
        }
        if flags & Flag.hbA1c != 0 { hbA1c = try MedicalShortFloat(decoding: &reader) }
    }

    /// Appends the context as 3 to 17 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(flags)
        writer.write(sequenceNumber)
        if let extendedFlags { writer.write(extendedFlags) }
        if let carbohydrate {
            writer.write(carbohydrate.kind.rawValue)
            carbohydrate.kilograms.encode(into: &writer)
        }
        if let meal { writer.write(meal.rawValue) }
        if let circumstances {
            writer.write(circumstances.tester.rawValue | circumstances.health.rawValue << 4)
        }
        if let exercise {
            writer.write(exercise.seconds)
            writer.write(exercise.intensity)
        }
        if let medication {
            writer.write(medication.kind.rawValue)
            switch medication.amount {
            case .kilograms(let value), .liters(let value): value.encode(into: &writer)
            }
        }
        if let hbA1c { hbA1c.encode(into: &writer) }
    }

    private var flags: UInt8 {
        var flags: UInt8 = 0
        if carbohydrate != nil { flags |= Flag.carbohydrate }
        if meal != nil { flags |= Flag.meal }
        if circumstances != nil { flags |= Flag.circumstances }
        if exercise != nil { flags |= Flag.exercise }
        if let medication {
            flags |= Flag.medication
            if case .liters = medication.amount { flags |= Flag.liters }
        }
        if hbA1c != nil { flags |= Flag.hbA1c }
        if extendedFlags != nil { flags |= Flag.extendedFlags }
        return flags
    }
}

/// The bits of the first byte.
private enum Flag {
    static let carbohydrate: UInt8 = 1 << 0
    static let meal: UInt8 = 1 << 1
    static let circumstances: UInt8 = 1 << 2
    static let exercise: UInt8 = 1 << 3
    static let medication: UInt8 = 1 << 4
    static let liters: UInt8 = 1 << 5
    static let hbA1c: UInt8 = 1 << 6
    static let extendedFlags: UInt8 = 1 << 7
}

extension MedicalShortFloat {
    /// A number of decimal units; infinity above the largest value, NaN below 0.
    fileprivate static func scaled(_ count: Int, exponent: Int) -> MedicalShortFloat {
        guard count >= 0 else { return .nan }
        return MedicalShortFloat(mantissa: count, exponent: exponent) ?? .positiveInfinity
    }
}
