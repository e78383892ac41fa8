/// With which meal carbohydrate was eaten or drunk (Glucose Service 1.0.1, section 3.2).
public struct GlucoseCarbohydrateKind: Hashable, Sendable {
    /// The kind as it is on the air; 0 and 8 through 255 are reserved.
    public let rawValue: UInt8

    /// Makes a kind, known to the specification or not.
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

/// How a measurement stands to a meal (Glucose Service 1.0.1, section 3.2).
public struct GlucoseMeal: Hashable, Sendable {
    /// The value as it is on the air; 0 and 6 through 255 are reserved.
    public let rawValue: UInt8

    /// Makes a value, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Before a meal.
    public static let preprandial = GlucoseMeal(rawValue: 1)
    /// After a meal.
    public static let postprandial = GlucoseMeal(rawValue: 2)
    /// Fasting.
    public static let fasting = GlucoseMeal(rawValue: 3)
    /// Among snacks and drinks.
    public static let casual = GlucoseMeal(rawValue: 4)
    /// At bedtime.
    public static let bedtime = GlucoseMeal(rawValue: 5)
}

/// Who has measured, and how the user is.
public struct GlucoseCircumstances: Hashable, Sendable {
    /// Who has measured.
    public var tester: GlucoseTester
    /// How the user is.
    public var health: GlucoseHealth

    /// Makes the circumstances of a measurement.
    public init(tester: GlucoseTester = .notAvailable, health: GlucoseHealth = .notAvailable) {
        self.tester = tester
        self.health = health
    }
}

/// Who has measured (Glucose Service 1.0.1, section 3.2).
public struct GlucoseTester: Hashable, Sendable {
    /// The value as it is on the air, in four bits; 0 and 4 through 14 are reserved.
    public let rawValue: UInt8

    /// Makes a value, known to the specification or not; the upper four bits are dropped.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// The user.
    public static let user = GlucoseTester(rawValue: 1)
    /// Somebody of the profession.
    public static let healthCareProfessional = GlucoseTester(rawValue: 2)
    /// A laboratory.
    public static let laboratory = GlucoseTester(rawValue: 3)
    /// Not known.
    public static let notAvailable = GlucoseTester(rawValue: 15)
}

/// How the user is (Glucose Service 1.0.1, section 3.2).
public struct GlucoseHealth: Hashable, Sendable {
    /// The value as it is on the air, in four bits; 0 and 6 through 14 are reserved.
    public let rawValue: UInt8

    /// Makes a value, known to the specification or not; the upper four bits are dropped.
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
    /// Not known.
    public static let notAvailable = GlucoseHealth(rawValue: 15)
}

/// A medication (Glucose Service 1.0.1, section 3.2).
public struct GlucoseMedicationKind: Hashable, Sendable {
    /// The kind as it is on the air; 0 and 6 through 255 are reserved.
    public let rawValue: UInt8

    /// Makes a kind, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Insulin that acts rapidly.
    public static let rapidActingInsulin = GlucoseMedicationKind(rawValue: 1)
    /// Insulin that acts for a short time.
    public static let shortActingInsulin = GlucoseMedicationKind(rawValue: 2)
    /// Insulin that acts for an intermediate time.
    public static let intermediateActingInsulin = GlucoseMedicationKind(rawValue: 3)
    /// Insulin that acts for a long time.
    public static let longActingInsulin = GlucoseMedicationKind(rawValue: 4)
    /// Insulins that were mixed before.
    public static let preMixedInsulin = GlucoseMedicationKind(rawValue: 5)
}
