import PeripheralKit
import PeripheralUserData

extension ServiceValues {
    private static let day = UserDate(year: 1986, month: 11, day: 22)

    /// What is known of a user, which centrals write as well.
    static let userDataFields: [Sample] =
        texts.map { .written($0, $1, is: .text($1)) }
        + numbers.map { .written($0, $1, is: .integer(Int($1))) } + [
            .written(0x2A8F, BodyLength(meters: 0.95), is: 0.95),
            .written(0x2A97, BodyLength(meters: 0.81), is: 0.81),
            .written(0x2A93, 1 as UInt8, is: "RUNNING_TREADMILL"),
            .sent(.userIndex, 7 as UInt8, is: 7),
            .written(
                0x2A94,
                [120, 140] as [UInt8],
                is: ["light_moderate_limit": 120, "moderate_hard_limit": 140]
            ),
            .written(
                0x2A8B,
                [100, 120, 140, 160] as [UInt8],
                is: [
                    "very_light_light_limit": 100, "light_moderate_limit": 120, "moderate_hard_limit": 140,
                    "hard_maximum_limit": 160,
                ]
            ),
        ]
        + [0x2A85, 0x2A86].compactMap { type in
            day.map { .written(type, $0, is: ["year": 1986, "month": 11, "day": 22]) }
        }

    private static let texts: [(BluetoothUUID, String)] = [
        (0x2A8A, "Zoë"), (0x2A90, "Example"), (0x2A87, "zoe@example.com"), (0x2AA2, "en"),
    ]

    /// Heart rates and the like, of one byte each.
    private static let numbers: [(BluetoothUUID, UInt8)] = [
        (0x2A80, 40), (0x2A96, 50), (0x2A8D, 190), (0x2A92, 60), (0x2A91, 170), (0x2A7F, 130), (0x2A83, 160),
        (0x2A88, 110), (0x2A89, 129), (0x2A7E, 130), (0x2A84, 159), (0x2A81, 160), (0x2A82, 180),
        (0x2A95, 140),
    ]
}
