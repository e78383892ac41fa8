internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralUserData

extension ServiceConformance {
    static let userData = [userConsent]

    private static let userConsent = Scenario(
        "UserData: a central has access to a user's data after consent, until it disconnects"
    ) {
        let users = UserData(
            security: .open,
            register: { $0 == 4711 ? 3 : nil },
            isConsentCode: { code, user in code == 4711 && user == 3 },
            delete: { _ in },
            increment: { UInt32($0) },
            setIncrement: { _, _ in }
        )
        let weight = users.characteristic(.weight) { _ in
            BodyWeight(kilograms: 70.5)
        } write: { _, _ in
        }
        let userData = UserDataService(users) { weight }
        return ScenarioRun(Peripheral("Scale") { userData }) { central, session in
            func answer(to request: UserControlRequest) async throws -> UserControlResponse {
                try await central.request(request, of: userData.controlPoint)
            }
            try await central.subscribe(to: userData.controlPoint, knownTo: session)
            for isAgain in [false, true] {
                if isAgain {
                    try await central.disconnect()
                    try await central.connect()
                    try await central.subscribe(to: userData.controlPoint, knownTo: session)
                }
                try expect("user", try await central.read(userData.userIndex), is: UserData.unknownUser)
                try await expectRefusal(of: "read", by: .userDataAccessNotPermitted) {
                    try await central.read(weight)
                }
                let refusal = try await answer(to: .consent(user: 3, consentCode: 1))
                try expect("wrong code", refusal, is: .init(.userNotAuthorized, to: .consent))
                let added = try await answer(to: .registerNewUser(consentCode: 4711))
                try expect("registration", added, is: .init(.success, to: .registerNewUser, user: 3))
                let consent = try await answer(to: .consent(user: 3, consentCode: 4711))
                try expect("consent", consent, is: .init(.success, to: .consent))
                try expect("user", try await central.read(userData.userIndex), is: 3)
                try expect("weight", try await central.read(weight), is: BodyWeight(kilograms: 70.5))
                try expect("increment", try await central.read(userData.databaseChangeIncrement), is: 3)
            }
        }
    }
}
