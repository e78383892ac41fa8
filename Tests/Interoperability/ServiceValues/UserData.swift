import PeripheralKit
import PeripheralUserData

extension ServiceValues {
    private static let users = UserData(
        register: { _ in nil },
        isConsentCode: { _, _ in false },
        delete: { _ in },
        increment: { _ in 0 },
        setIncrement: { _, _ in }
    )

    /// What centrals write of a user, with the type of its characteristic.
    private static func field<Value>(_ field: UserDataField<Value>, _ value: Value, is fields: Field)
        -> Sample
    {
        let characteristic = users.characteristic(field, read: { _ in value }, write: { _, _ in })
        return .written(characteristic.uuid, value, is: fields)
    }

    private static func beats(_ field: UserDataField<UInt8>, _ number: UInt8) -> Sample {
        self.field(field, number, is: .integer(Int(number)))
    }

    static let userDataFields: [Sample] =
        [
            .sent(.userIndex, 7 as UInt8, is: 7),
            field(.firstName, "Zoë", is: "Zoë"),
            field(.lastName, "Example", is: "Example"),
            field(.emailAddress, "zoe@example.com", is: "zoe@example.com"),
            field(.language, "en", is: "en"),
            field(.gender, .unspecified, is: "UNSPECIFIED"),
            field(.weight, BodyWeight(kilograms: 70.5), is: 70.5),
            field(.height, BodyLength(meters: 1.83), is: 1.83),
            field(.hipCircumference, BodyLength(meters: 0.95), is: 0.95),
            field(.waistCircumference, BodyLength(meters: 0.81), is: 0.81),
            field(.sportTypeForThresholds, 1, is: "RUNNING_TREADMILL"),
            field(
                .threeZoneLimits,
                [120, 140],
                is: ["light_moderate_limit": 120, "moderate_hard_limit": 140]
            ),
            field(
                .fiveZoneLimits,
                [100, 120, 140, 160],
                is: [
                    "very_light_light_limit": 100, "light_moderate_limit": 120, "moderate_hard_limit": 140,
                    "hard_maximum_limit": 160,
                ]
            ),
        ] + dates
        + [
            beats(.age, 40), beats(.vo2Max, 50), beats(.heartRateMax, 190), beats(.restingHeartRate, 60),
            beats(.maximumRecommendedHeartRate, 170), beats(.aerobicThreshold, 130),
            beats(.anaerobicThreshold, 160), beats(.fatBurnLowerLimit, 110), beats(.fatBurnUpperLimit, 129),
            beats(.aerobicLowerLimit, 131), beats(.aerobicUpperLimit, 159), beats(.anaerobicLowerLimit, 161),
            beats(.anaerobicUpperLimit, 180), beats(.twoZoneLimit, 141),
        ]

    private static var dates: [Sample] {
        guard let day = UserDate(year: 1986, month: 11, day: 22) else { return [] }
        let fields: Field = ["year": 1986, "month": 11, "day": 22]
        return [field(.dateOfBirth, day, is: fields), field(.dateOfThresholdAssessment, day, is: fields)]
    }
}
