public import PeripheralKit

/// The sport to which the aerobic and anaerobic thresholds of a user apply.
///
/// `SportType` represents the value of the Sport Type for Aerobic and Anaerobic Thresholds characteristic,
/// 0x2A93.
public struct SportType: GATTValue, Hashable, RawRepresentable, ExpressibleByIntegerLiteral {
    /// The assigned number of the sport.
    public var rawValue: UInt8

    /// Creates a sport from a number.
    ///
    /// The initializer also accepts numbers that the specification does not assign.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Creates a sport from a number.
    ///
    /// The initializer also accepts numbers that the specification does not assign.
    public init(integerLiteral number: UInt8) {
        rawValue = number
    }

    /// No particular sport.
    public static var unspecified: SportType { 0 }
    /// Running on a treadmill.
    public static var running: SportType { 1 }
    /// Cycling on an ergometer.
    public static var cycling: SportType { 2 }
    /// Rowing on an ergometer.
    public static var rowing: SportType { 3 }
    /// Cross training on an elliptical trainer.
    public static var crossTraining: SportType { 4 }
    /// Climbing.
    public static var climbing: SportType { 5 }
    /// Skiing.
    public static var skiing: SportType { 6 }
    /// Skating.
    public static var skating: SportType { 7 }
    /// Arm exercise.
    public static var armExercising: SportType { 8 }
    /// Lower-body exercise.
    public static var lowerBodyExercising: SportType { 9 }
    /// Upper-body exercise.
    public static var upperBodyExercising: SportType { 10 }
    /// Whole-body exercise.
    public static var wholeBodyExercising: SportType { 11 }

    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

/// The heart rates that separate light, moderate and hard exercise, in beats per minute.
///
/// `ThreeZoneLimits` represents the value of the Three Zone Heart Rate Limits characteristic, 0x2A94.
public struct ThreeZoneLimits: GATTValue, Hashable, ExpressibleByArrayLiteral {
    /// The limit between light and moderate exercise, 0 to 255 beats per minute.
    public var lightToModerate: UInt8
    /// The limit between moderate and hard exercise, 0 to 255 beats per minute.
    public var moderateToHard: UInt8

    /// Creates the heart rate limits in beats per minute.
    public init(lightToModerate: UInt8, moderateToHard: UInt8) {
        self.lightToModerate = lightToModerate
        self.moderateToHard = moderateToHard
    }

    /// Creates the limits from an array of exactly two heart rates in beats per minute.
    ///
    /// The first heart rate in the array is the lower limit.
    public init(arrayLiteral limits: UInt8...) {
        precondition(limits.count == 2, "Three zones need exactly two limits.")
        self.init(lightToModerate: limits[0], moderateToHard: limits[1])
    }

    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        lightToModerate = try reader.read()
        moderateToHard = try reader.read()
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write([lightToModerate, moderateToHard])
    }
}

/// The heart rates that separate very light, light, moderate, hard and maximal exercise.
///
/// The limits are in beats per minute. `FiveZoneLimits` represents the value of the Five Zone Heart Rate
/// Limits characteristic, 0x2A8B.
public struct FiveZoneLimits: GATTValue, Hashable, ExpressibleByArrayLiteral {
    /// The limit between very light and light exercise, 0 to 255 beats per minute.
    public var veryLightToLight: UInt8
    /// The limit between light and moderate exercise, 0 to 255 beats per minute.
    public var lightToModerate: UInt8
    /// The limit between moderate and hard exercise, 0 to 255 beats per minute.
    public var moderateToHard: UInt8
    /// The limit between hard and maximal exercise, 0 to 255 beats per minute.
    public var hardToMaximal: UInt8

    /// Creates the heart rate limits in beats per minute.
    public init(veryLightToLight: UInt8, lightToModerate: UInt8, moderateToHard: UInt8, hardToMaximal: UInt8)
    {
        self.veryLightToLight = veryLightToLight
        self.lightToModerate = lightToModerate
        self.moderateToHard = moderateToHard
        self.hardToMaximal = hardToMaximal
    }

    /// Creates the limits from an array of exactly four heart rates in beats per minute.
    ///
    /// The heart rates in the array are in ascending order.
    public init(arrayLiteral limits: UInt8...) {
        precondition(limits.count == 4, "Five zones need exactly four limits.")
        self.init(
            veryLightToLight: limits[0],
            lightToModerate: limits[1],
            moderateToHard: limits[2],
            hardToMaximal: limits[3]
        )
    }

    /// Reads four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        veryLightToLight = try reader.read()
        lightToModerate = try reader.read()
        moderateToHard = try reader.read()
        hardToMaximal = try reader.read()
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write([veryLightToLight, lightToModerate, moderateToHard, hardToMaximal])
    }
}
