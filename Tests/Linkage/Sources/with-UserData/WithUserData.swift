import MinimalProgram
import PeripheralKit
import PeripheralUserData

@main
struct WithUserData {
    static func main() async throws {
        let users = UserData(
            register: { _ in 0 },
            isConsentCode: { code, _ in code == 1 },
            delete: { _ in },
            increment: { _ in 0 },
            setIncrement: { _, _ in }
        )
        let weight = users.characteristic(
            .weight,
            read: { _ in BodyWeight(kilograms: 70) },
            write: { _, _ in }
        )
        let height = users.characteristic(.height, read: { _ in BodyLength(meters: 1.8) }, write: { _, _ in })
        let name = users.characteristic(.firstName, read: { _ in "" }, write: { _, _ in })
        let age = users.characteristic(.age, read: { _ in 40 }, write: { _, _ in })
        let gender = users.characteristic(.gender, read: { _ in .female }, write: { _, _ in })
        let birth = users.characteristic(
            .dateOfBirth,
            read: { _ in
                guard let date = UserDate(year: nil, month: nil, day: nil) else {
                    throw ATTError.unlikelyError
                }
                return date
            },
            write: { _, _ in }
        )
        let zones = users.characteristic(.threeZoneLimits, read: { _ in [1, 2] }, write: { _, _ in })
        let userData = UserDataService(users) {
            weight
            height
            name
            age
            gender
            birth
            zones
        }
        try await runMinimalProgram(with: [userData]) { session in
            try await userData.notify(increment: 1, of: 0, in: session)
        }
    }
}
