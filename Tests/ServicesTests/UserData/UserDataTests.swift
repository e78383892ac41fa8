import PeripheralKit
import PeripheralTesting
import PeripheralUserData
import Testing

@Suite(.timeLimit(.minutes(1)))
struct UserDataTests {
    private struct Failure: Error {}

    private static func makeUsers() -> UserData {
        UserData(
            security: .open,
            register: { code in
                if code == 1 { throw Failure() }
                return code == 2 ? nil : 7
            },
            isConsentCode: { code, user in code == 4711 && user == 7 },
            delete: { _ in },
            increment: { _ in 0x01020304 },
            setIncrement: { _, _ in }
        )
    }

    /// Bytes by hand, after User Data Service 1.0, section 3.3: op code and parameter; then op code 0x20, the
    /// request's op code, the response value and its parameter.
    @Test(
        arguments: [
            ("registration", [0x01, 0x67, 0x12], [0x20, 0x01, 0x01, 0x07]),
            ("registration without a code", [0x01], [0x20, 0x01, 0x03]),
            ("registration with half a code", [0x01, 0x67], [0x20, 0x01, 0x03]),
            ("registration with the code 10 000", [0x01, 0x10, 0x27], [0x20, 0x01, 0x03]),
            ("registration that fails", [0x01, 0x01, 0x00], [0x20, 0x01, 0x04]),
            ("registration without room", [0x01, 0x02, 0x00], [0x20, 0x01, 0x04]),
            ("consent", [0x02, 0x07, 0x67, 0x12], [0x20, 0x02, 0x01]),
            ("consent without the code", [0x02, 0x07], [0x20, 0x02, 0x03]),
            ("consent of nobody", [0x02, 0xFF, 0x67, 0x12], [0x20, 0x02, 0x03]),
            ("consent with another code", [0x02, 0x07, 0x68, 0x12], [0x20, 0x02, 0x05]),
            ("deletion without consent", [0x03], [0x20, 0x03, 0x05]),
            ("deletion with a parameter", [0x03, 0x07], [0x20, 0x03, 0x03]),
            ("an unknown operation", [0x06], [0x20, 0x06, 0x02]),
        ] as [(String, [UInt8], [UInt8])]
    )
    func answersAsSpecified(name: String, request: [UInt8], response: [UInt8]) async throws {
        let users = Self.makeUsers()
        let age = users.characteristic(.age, read: { _ in 42 }, write: { _, _ in })
        let userData = UserDataService(users) { age }
        try await Peripheral("Scale") { userData }.test { central in
            try await central.subscribe(to: userData.controlPoint)
            try await central.write(request, to: userData.controlPoint)
            let handle = try await central.locate(userData.controlPoint).valueHandle
            let received = try await central.nextUpdate(of: handle)
            #expect(received == ReceivedUpdate(kind: .indication, value: response))
        }
    }

    @Test func consentIsForOneCentralAndEndsWithTheUser() async throws {
        let users = Self.makeUsers()
        let age = users.characteristic(.age, read: { _ in 42 }, write: { _, _ in })
        let userData = UserDataService(users) { age }
        try await Peripheral("Scale") { userData }.test { central, session in
            let other = central.makeAnother()
            try await other.connect()
            try await central.subscribe(to: userData.controlPoint)
            let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
            _ = try await central.request(consent, of: userData.controlPoint)
            #expect(try await central.read(age) == 42)
            try await central.write(age, 43)
            #expect(try await central.read(userData.databaseChangeIncrement) == 0x01020304)
            await #expect(throws: ATTError.userDataAccessNotPermitted) { try await other.read(age) }
            await #expect(throws: ATTError.userDataAccessNotPermitted) { try await other.write(age, 1) }
            let response = try await central.request(
                UserControlRequest.deleteUserData,
                of: userData.controlPoint
            )
            #expect(response == UserControlResponse(.success, to: .deleteUserData))
            #expect(try await central.read(userData.userIndex) == UserData.unknownUser)
            await #expect(throws: ATTError.userDataAccessNotPermitted) { try await central.read(age) }
        }
    }

    /// What is known of people is for encrypted links by default.
    @Test func needsEncryptionByDefault() async throws {
        let users = UserData(
            register: { _ in nil },
            isConsentCode: { code, user in code == 4711 && user == 7 },
            delete: { _ in },
            increment: { _ in 1 },
            setIncrement: { _, _ in }
        )
        let age = users.characteristic(.age, read: { _ in 42 }, write: { _, _ in })
        let userData = UserDataService(users) { age }
        try await Peripheral("Scale", pairing: .justWorks) { userData }.test { central in
            let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.write(consent, to: userData.controlPoint)
            }
            await #expect(throws: ATTError.insufficientEncryption) { try await central.read(age) }
            await #expect(throws: ATTError.insufficientEncryption) { try await central.write(age, 43) }
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.read(userData.databaseChangeIncrement)
            }
            try await central.pair(.justWorks)
            try await central.subscribe(to: userData.controlPoint)
            let response = try await central.request(consent, of: userData.controlPoint)
            #expect(response == UserControlResponse(.success, to: .consent))
            #expect(try await central.read(age) == 42)
        }
    }

    @Test func tellsOfChangesThoseWhoMaySeeThem() async throws {
        let users = Self.makeUsers()
        let age = users.characteristic(.age, read: { _ in 42 }, write: { _, _ in })
        let userData = UserDataService(users) { age }
        try await Peripheral("Scale") { userData }.test(as: .specification) { central, session in
            let stranger = central.makeAnother()
            try await stranger.connect()
            for each in [central, stranger] {
                try await each.subscribe(to: userData.databaseChangeIncrement)
                try await each.subscribe(to: userData.controlPoint)
            }
            let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
            _ = try await central.request(consent, of: userData.controlPoint)
            try await userData.notify(increment: 1, of: 7, in: session)
            try await userData.notify(increment: 2, of: 8, in: session)
            try await session.notify(userData.databaseChangeIncrement, 3)
            #expect(try await central.nextUpdate(of: userData.databaseChangeIncrement) == 1)
            #expect(try await central.nextUpdate(of: userData.databaseChangeIncrement) == 3)
            #expect(try await stranger.nextUpdate(of: userData.databaseChangeIncrement) == 3)
        }
    }

    /// The code is checked for so long that the central has left and is back.
    @Test func consentIsForTheConnectionThatHasGivenIt() async throws {
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let users = UserData(
            security: .open,
            register: { _ in 7 },
            isConsentCode: { _, _ in
                begin.yield()
                // Whether or not it is cancelled.
                await Task { for await _ in released { return } }.value
                return true
            },
            delete: { _ in },
            increment: { _ in 0 },
            setIncrement: { _, _ in }
        )
        let age = users.characteristic(.age, read: { _ in 42 }, write: { _, _ in })
        let userData = UserDataService(users) { age }
        try await Peripheral("Scale") { userData }.test { central in
            try await central.subscribe(to: userData.controlPoint)
            let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
            try await central.write(consent, to: userData.controlPoint)
            for await _ in began { break }
            central.disconnect()
            try await central.connect()
            try await central.subscribe(to: userData.controlPoint)
            release.yield()
            // When this is taken up, the other has ended.
            _ = try await central.request(
                UserControlRequest.registerNewUser(consentCode: 4711),
                of: userData.controlPoint
            )
            #expect(try await central.read(userData.userIndex) == UserData.unknownUser)
        }
    }

    @Test func aConsentKeepsNothingOfTheRun() async throws {
        final class Witness: Sendable {
            let isGone: AsyncStream<Void>.Continuation
            init(_ isGone: AsyncStream<Void>.Continuation) { self.isGone = isGone }
            deinit { isGone.finish() }
        }
        let (gone, isGone) = AsyncStream.makeStream(of: Void.self)
        func run() async throws {
            let witness = Witness(isGone)
            let users = Self.makeUsers()
            let age = users.characteristic(.age) { _ in
                withExtendedLifetime(witness) { 42 }
            } write: { _, _ in
            }
            let userData = UserDataService(users) { age }
            try await Peripheral("Scale") { userData }.test { central in
                try await central.subscribe(to: userData.controlPoint)
                let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
                _ = try await central.request(consent, of: userData.controlPoint)
                #expect(try await central.read(age) == 42)
            }
        }
        try await run()
        for await _ in gone {}
    }

    /// Bytes by hand, after the GATT Specification Supplement.
    @Test func valuesAreAsSpecified() throws {
        #expect(BodyWeight(kilograms: 70.5).gattBytes == [0x14, 0x37])
        #expect(BodyWeight(kilograms: -1).rawValue == 0)
        #expect(BodyWeight(kilograms: 400).rawValue == .max)
        #expect(BodyLength(meters: 1.83).gattBytes == [0xB7, 0x00])
        #expect(BodyLength(meters: .nan).centimeters == 0)
        #expect(Gender.unspecified.gattBytes == [0x02])
        #expect(throws: GATTDecodingError.self) { try Gender(gattBytes: [0x03]) }
        let birthday = try #require(UserDate(year: 1969, month: 7, day: 20))
        #expect(birthday.gattBytes == [0xB1, 0x07, 0x07, 0x14])
        #expect(UserDate(year: 2025, month: 2, day: 29) == nil)
        #expect(UserDate(year: nil, month: nil, day: nil)?.gattBytes == [0, 0, 0, 0])
    }

    /// Bytes by hand, after the GATT Specification Supplement.
    @Test func thresholdsAreAsSpecified() throws {
        #expect(SportType.wholeBodyExercising.gattBytes == [0x0B])
        #expect(try SportType(gattBytes: [0x0C]) == SportType(rawValue: 12))
        let three = ThreeZoneLimits(lightToModerate: 120, moderateToHard: 140)
        #expect(three.gattBytes == [0x78, 0x8C])
        #expect(three == [120, 140])
        #expect(try ThreeZoneLimits(gattBytes: [0x78, 0x8C]) == three)
        let five = FiveZoneLimits(
            veryLightToLight: 100,
            lightToModerate: 120,
            moderateToHard: 140,
            hardToMaximal: 160
        )
        #expect(five.gattBytes == [0x64, 0x78, 0x8C, 0xA0])
        #expect(five == [100, 120, 140, 160])
        #expect(try FiveZoneLimits(gattBytes: [0x64, 0x78, 0x8C, 0xA0]) == five)
        for bytes in [[], [1], [1, 2, 3], [1, 2, 3, 4, 5]] as [[UInt8]] {
            #expect(throws: GATTDecodingError.self) { try ThreeZoneLimits(gattBytes: bytes) }
            #expect(throws: GATTDecodingError.self) { try FiveZoneLimits(gattBytes: bytes) }
        }
    }

    @Test func limitsOfAnyOtherLengthAreRefused() async throws {
        let users = Self.makeUsers()
        let limits = users.characteristic(
            .threeZoneLimits,
            read: { _ in [120, 140] },
            write: { _, limits in Issue.record("\(limits) were written.") }
        )
        let userData = UserDataService(users) { limits }
        try await Peripheral("Scale") { userData }.test { central in
            try await central.subscribe(to: userData.controlPoint)
            let consent = UserControlRequest.consent(user: 7, consentCode: 4711)
            _ = try await central.request(consent, of: userData.controlPoint)
            #expect(try await central.read(limits) == [120, 140])
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write([120, 140, 160], to: limits)
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(UserControlRequest.self, seed: seed, count: 0...8)
        try fuzz(UserControlResponse.self, seed: seed, count: 0...6)
        try fuzz(UserDate.self, seed: seed, count: 0...6)
        try fuzz(SportType.self, seed: seed, count: 0...2)
        try fuzz(ThreeZoneLimits.self, seed: seed, count: 0...3)
        try fuzz(FiveZoneLimits.self, seed: seed, count: 0...5)
    }
}
