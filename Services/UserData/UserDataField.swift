public import PeripheralKit

/// A field of the user data, such as the first name.
///
/// A characteristic of the User Data service contains the value of the field.
///
/// The User Data Service specification 1.0 defines the fields in section 3.1.
public struct UserDataField<Value: GATTValue>: Sendable {
    let uuid: BluetoothUUID

    /// Creates a field from the UUID of a characteristic.
    ///
    /// For example, use the UUID of a characteristic that a later version of the specification defines.
    public init(_ uuid: BluetoothUUID) {
        self.uuid = uuid
    }
}

extension UserDataField where Value == String {
    /// The first name.
    public static var firstName: Self { Self(0x2A8A) }
    /// The last name.
    public static var lastName: Self { Self(0x2A90) }
    /// The email address.
    public static var emailAddress: Self { Self(0x2A87) }
    /// The language, as an ISO 639-1 code, such as `en`.
    public static var language: Self { Self(0x2AA2) }
}

extension UserDataField where Value == UserDate {
    /// The date of birth of the user.
    public static var dateOfBirth: Self { Self(0x2A85) }
    /// The date on which the heart rate thresholds of the user were assessed.
    public static var dateOfThresholdAssessment: Self { Self(0x2A86) }
}

extension UserDataField where Value == Gender {
    /// The gender.
    public static var gender: Self { Self(0x2A8C) }
}

extension UserDataField where Value == BodyWeight {
    /// The weight.
    public static var weight: Self { Self(0x2A98) }
}

extension UserDataField where Value == BodyLength {
    /// The height.
    public static var height: Self { Self(0x2A8E) }
    /// The waist circumference of the user.
    public static var waistCircumference: Self { Self(0x2A97) }
    /// The hip circumference of the user.
    public static var hipCircumference: Self { Self(0x2A8F) }
}

extension UserDataField where Value == UInt8 {
    /// The age of the user in years.
    public static var age: Self { Self(0x2A80) }
    /// The maximum oxygen uptake, in milliliters per kilogram per minute.
    public static var vo2Max: Self { Self(0x2A96) }
    /// The highest heart rate that the user has reached, in beats per minute.
    public static var heartRateMax: Self { Self(0x2A8D) }
    /// The resting heart rate, in beats per minute.
    public static var restingHeartRate: Self { Self(0x2A92) }
    /// The maximum heart rate recommended for exercise, in beats per minute.
    public static var maximumRecommendedHeartRate: Self { Self(0x2A91) }
    /// The heart rate at the aerobic threshold, in beats per minute.
    public static var aerobicThreshold: Self { Self(0x2A7F) }
    /// The heart rate at the anaerobic threshold, in beats per minute.
    public static var anaerobicThreshold: Self { Self(0x2A83) }
    /// The lower heart rate limit of the fat burn zone, in beats per minute.
    public static var fatBurnLowerLimit: Self { Self(0x2A88) }
    /// The upper heart rate limit of the fat burn zone, in beats per minute.
    public static var fatBurnUpperLimit: Self { Self(0x2A89) }
    /// The lower heart rate limit for aerobic exercise, in beats per minute.
    public static var aerobicLowerLimit: Self { Self(0x2A7E) }
    /// The upper heart rate limit for aerobic exercise, in beats per minute.
    public static var aerobicUpperLimit: Self { Self(0x2A84) }
    /// The lower heart rate limit for anaerobic exercise, in beats per minute.
    public static var anaerobicLowerLimit: Self { Self(0x2A81) }
    /// The upper heart rate limit for anaerobic exercise, in beats per minute.
    public static var anaerobicUpperLimit: Self { Self(0x2A82) }
    /// The limit between the fat burn zone and the fitness zone.
    ///
    /// The limit is a heart rate in beats per minute.
    public static var twoZoneLimit: Self { Self(0x2A95) }
}

extension UserDataField where Value == SportType {
    /// The sport to which the aerobic and anaerobic thresholds apply.
    public static var sportTypeForThresholds: Self { Self(0x2A93) }
}

extension UserDataField where Value == ThreeZoneLimits {
    /// The heart rates that separate light, moderate and hard exercise.
    public static var threeZoneLimits: Self { Self(0x2A94) }
}

extension UserDataField where Value == FiveZoneLimits {
    /// The heart rates that separate very light, light, moderate, hard and maximal exercise.
    public static var fiveZoneLimits: Self { Self(0x2A8B) }
}
