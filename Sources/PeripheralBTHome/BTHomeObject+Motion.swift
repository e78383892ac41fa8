// Measurements of motion, mass and time.

extension BTHomeObject {
    private static let kilogramsQuantity = BTHomeQuantity(
        "mass",
        "kg",
        .unsigned(0x06, bytes: 2, scale: 100)
    )

    /// A mass in kg, object 0x06, in steps of 0.01 kg up to 655.35 kg.
    public static func kilograms(_ kilograms: Double) -> BTHomeObject {
        BTHomeObject(kilogramsQuantity, kilograms)
    }

    private static let poundsQuantity = BTHomeQuantity(
        "mass",
        "lb",
        .unsigned(0x07, bytes: 2, scale: 100)
    )

    /// A mass in pounds, object 0x07, in steps of 0.01 lb up to 655.35 lb.
    public static func pounds(_ pounds: Double) -> BTHomeObject {
        BTHomeObject(poundsQuantity, pounds)
    }

    private static let millimetersQuantity = BTHomeQuantity(
        "distance",
        "mm",
        .unsigned(0x40, bytes: 2)
    )

    /// A distance in mm, object 0x40, up to 65,535 mm.
    public static func millimeters(_ millimeters: Double) -> BTHomeObject {
        BTHomeObject(millimetersQuantity, millimeters)
    }

    private static let metersQuantity = BTHomeQuantity(
        "distance",
        "m",
        .unsigned(0x41, bytes: 2, scale: 10)
    )

    /// A distance in meters, object 0x41, in steps of 0.1 m up to 6553.5 m.
    public static func meters(_ meters: Double) -> BTHomeObject {
        BTHomeObject(metersQuantity, meters)
    }

    private static let speedQuantity = BTHomeQuantity(
        "speed",
        "m/s",
        .unsigned(0x44, bytes: 2, scale: 100),
        .signed(0x62, bytes: 4, scale: 1_000_000)
    )

    /// A speed in m/s.
    ///
    /// The numbers are 0x44 for steps of 0.01 m/s up to 655.35 m/s, and 0x62 for 0.000001 m/s up to
    /// ±2147.483647 m/s.
    ///
    /// - Parameters:
    ///   - metersPerSecond: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func speed(_ metersPerSecond: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(speedQuantity, metersPerSecond, objectID)
    }

    private static let accelerationQuantity = BTHomeQuantity(
        "acceleration",
        "m/s²",
        .unsigned(0x51, bytes: 2, scale: 1000),
        .signed(0x63, bytes: 4, scale: 1_000_000)
    )

    /// An acceleration in m/s².
    ///
    /// The numbers are 0x51 for steps of 0.001 m/s² up to 65.535 m/s², and 0x63 for 0.000001 m/s² up to
    /// ±2147.483647 m/s².
    ///
    /// - Parameters:
    ///   - metersPerSecondSquared: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func acceleration(_ metersPerSecondSquared: Double, objectID: UInt8? = nil) -> BTHomeObject
    {
        BTHomeObject(accelerationQuantity, metersPerSecondSquared, objectID)
    }

    private static let angularVelocityQuantity = BTHomeQuantity(
        "angular velocity",
        "°/s",
        .unsigned(0x52, bytes: 2, scale: 1000)
    )

    /// The angular velocity of a gyroscope in °/s, object 0x52, in steps of 0.001 °/s up to 65.535 °/s.
    public static func angularVelocity(_ degreesPerSecond: Double) -> BTHomeObject {
        BTHomeObject(angularVelocityQuantity, degreesPerSecond)
    }

    private static let rotationQuantity = BTHomeQuantity(
        "rotation",
        "°",
        .signed(0x3F, bytes: 2, scale: 10)
    )

    /// A rotation in degrees, object 0x3F, in steps of 0.1° from −3276.8° to 3276.7°.
    public static func rotation(_ degrees: Double) -> BTHomeObject {
        BTHomeObject(rotationQuantity, degrees)
    }

    private static let directionQuantity = BTHomeQuantity(
        "direction",
        "°",
        .unsigned(0x5E, bytes: 2, scale: 100)
    )

    /// A direction in degrees, object 0x5E, in steps of 0.01° up to 655.35°.
    public static func direction(_ degrees: Double) -> BTHomeObject {
        BTHomeObject(directionQuantity, degrees)
    }

    private static let rotationalSpeedQuantity = BTHomeQuantity(
        "rotational speed",
        "rpm",
        .unsigned(0x61, bytes: 2)
    )

    /// A rotational speed in revolutions per minute, object 0x61, up to 65,535.
    public static func rotationalSpeed(_ revolutionsPerMinute: Double) -> BTHomeObject {
        BTHomeObject(rotationalSpeedQuantity, revolutionsPerMinute)
    }

    private static let durationQuantity = BTHomeQuantity(
        "duration",
        "s",
        .unsigned(0x42, bytes: 3, scale: 1000)
    )

    /// A duration in seconds, object 0x42, in steps of 0.001 s up to 16777.215 s.
    public static func duration(_ seconds: Double) -> BTHomeObject {
        BTHomeObject(durationQuantity, seconds)
    }
}
