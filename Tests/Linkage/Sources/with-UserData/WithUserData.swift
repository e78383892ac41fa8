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
        let userData = UserDataService(users) { weight }
        try await runMinimalProgram(with: [userData]) { _ in }
    }
}
