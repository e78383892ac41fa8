import PeripheralKit
import PeripheralUserData

enum UserDataStandIns {
    protocol Store: Sendable {
        func add(_ consentCode: UInt16) async -> UInt8?
        func code(of user: UInt8) async -> UInt16?
        func remove(_ user: UInt8) async
        func increment(of user: UInt8) async -> UInt32
        func set(_ increment: UInt32, of user: UInt8) async
        func weight(of user: UInt8) async -> BodyWeight
        func set(_ weight: BodyWeight, of user: UInt8) async
    }

    static var store: any Store { fatalError() }

    static var users: UserData { fatalError() }
    static var weight: Characteristic<BodyWeight> { fatalError() }

    @Sendable static func add(_ consentCode: UInt16) async -> UInt8? { fatalError() }
    @Sendable static func check(_ code: UInt16, of user: UInt8) async -> Bool { fatalError() }
    @Sendable static func remove(_ user: UInt8) async {}
    @Sendable static func count(of user: UInt8) async -> UInt32 { fatalError() }
    @Sendable static func set(_ increment: UInt32, of user: UInt8) async {}
    @Sendable static func weightOf(_ user: UInt8) async -> BodyWeight { fatalError() }
    @Sendable static func setWeight(_ weight: BodyWeight, of user: UInt8) async {}
}
