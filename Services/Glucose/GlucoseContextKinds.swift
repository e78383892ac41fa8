/// The kind of meal in which carbohydrate was consumed (Glucose Service 1.0.1, section 3.2).
public struct GlucoseCarbohydrateKind: Hashable, Sendable {
    /// The encoded kind of meal.
    ///
    /// The values 0 and 8 through 255 are reserved.
    public let rawValue: UInt8

    /// Creates a kind.
    ///
    /// The initializer accepts kinds that the Glucose Service specification 1.0.1 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Breakfast.
    public static let breakfast = GlucoseCarbohydrateKind(rawValue: 1)
    /// Lunch.
    public static let lunch = GlucoseCarbohydrateKind(rawValue: 2)
    /// Dinner.
    public static let dinner = GlucoseCarbohydrateKind(rawValue: 3)
    /// A snack.
    public static let snack = GlucoseCarbohydrateKind(rawValue: 4)
    /// A drink.
    public static let drink = GlucoseCarbohydrateKind(rawValue: 5)
    /// Supper.
    public static let supper = GlucoseCarbohydrateKind(rawValue: 6)
    /// Brunch.
    public static let brunch = GlucoseCarbohydrateKind(rawValue: 7)
}

/// The time of a measurement relative to a meal (Glucose Service 1.0.1, section 3.2).
public struct GlucoseMeal: Hashable, Sendable {
    /// The encoded value.
    ///
    /// The values 0 and 6 through 255 are reserved.
    public let rawValue: UInt8

    /// Creates a value.
    ///
    /// The initializer accepts values that the Glucose Service specification 1.0.1 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Before a meal.
    public static let preprandial = GlucoseMeal(rawValue: 1)
    /// After a meal.
    public static let postprandial = GlucoseMeal(rawValue: 2)
    /// Fasting.
    public static let fasting = GlucoseMeal(rawValue: 3)
    /// A casual meal, such as a snack or a drink.
    public static let casual = GlucoseMeal(rawValue: 4)
    /// At bedtime.
    public static let bedtime = GlucoseMeal(rawValue: 5)
}

/// The person or laboratory that took a measurement, and the health of the user.
public struct GlucoseCircumstances: Hashable, Sendable {
    /// The person or laboratory that took the measurement.
    public var tester: GlucoseTester
    /// The health of the user.
    public var health: GlucoseHealth

    /// Creates a description of the circumstances of a measurement.
    public init(tester: GlucoseTester = .notAvailable, health: GlucoseHealth = .notAvailable) {
        self.tester = tester
        self.health = health
    }
}

/// The person or laboratory that took a measurement (Glucose Service 1.0.1, section 3.2).
public struct GlucoseTester: Hashable, Sendable {
    /// The encoded value, which has four bits.
    ///
    /// The values 0 and 4 through 14 are reserved.
    public let rawValue: UInt8

    /// Creates a value.
    ///
    /// The initializer accepts values that the Glucose Service specification 1.0.1 does not define. The
    /// initializer ignores the upper four bits of the value.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// The user took the measurement.
    public static let user = GlucoseTester(rawValue: 1)
    /// A health care professional took the measurement.
    public static let healthCareProfessional = GlucoseTester(rawValue: 2)
    /// A laboratory took the measurement.
    public static let laboratory = GlucoseTester(rawValue: 3)
    /// The person or laboratory is unknown.
    public static let notAvailable = GlucoseTester(rawValue: 15)
}

/// The health of the user (Glucose Service 1.0.1, section 3.2).
public struct GlucoseHealth: Hashable, Sendable {
    /// The encoded value, which has four bits.
    ///
    /// The values 0 and 6 through 14 are reserved.
    public let rawValue: UInt8

    /// Creates a value.
    ///
    /// The initializer accepts values that the Glucose Service specification 1.0.1 does not define. The
    /// initializer ignores the upper four bits of the value.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// Minor health issues.
    public static let minorIssues = GlucoseHealth(rawValue: 1)
    /// Major health issues.
    public static let majorIssues = GlucoseHealth(rawValue: 2)
    /// During menses.
    public static let duringMenses = GlucoseHealth(rawValue: 3)
    /// Under stress.
    public static let underStress = GlucoseHealth(rawValue: 4)
    /// No health issues.
    public static let noIssues = GlucoseHealth(rawValue: 5)
    /// The health of the user is unknown.
    public static let notAvailable = GlucoseHealth(rawValue: 15)
}

/// A kind of medication (Glucose Service 1.0.1, section 3.2).
public struct GlucoseMedicationKind: Hashable, Sendable {
    /// The encoded kind of medication.
    ///
    /// The values 0 and 6 through 255 are reserved.
    public let rawValue: UInt8

    /// Creates a kind.
    ///
    /// The initializer accepts kinds that the Glucose Service specification 1.0.1 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Rapid-acting insulin.
    public static let rapidActingInsulin = GlucoseMedicationKind(rawValue: 1)
    /// Short-acting insulin.
    public static let shortActingInsulin = GlucoseMedicationKind(rawValue: 2)
    /// Intermediate-acting insulin.
    public static let intermediateActingInsulin = GlucoseMedicationKind(rawValue: 3)
    /// Long-acting insulin.
    public static let longActingInsulin = GlucoseMedicationKind(rawValue: 4)
    /// Pre-mixed insulin.
    public static let preMixedInsulin = GlucoseMedicationKind(rawValue: 5)
}
