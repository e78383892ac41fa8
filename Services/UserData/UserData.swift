public import PeripheralKit
private import Synchronization

/// The users of a device, and who may see what is known of them: makes the characteristics of a ``UserDataService``.
///
/// ```swift
/// let users = UserData(
///     register: { code in await store.add(code) },
///     isConsentCode: { code, user in await store.code(of: user) == code },
///     delete: { user in await store.remove(user) },
///     increment: { user in await store.increment(of: user) },
///     setIncrement: { increment, user in await store.set(increment, of: user) }
/// )
/// let weight = users.characteristic(.weight) { user in
///     await store.weight(of: user)
/// } write: { weight, user in
///     await store.set(weight, of: user)
/// }
/// ```
///
/// A central sees the data of one user at a time, after that user's consent, and until it leaves. Before, it is refused
/// by `ATTError.userDataAccessNotPermitted`.
public struct UserData: Sendable {
    /// The index that stands for nobody.
    public static let unknownUser: UInt8 = 0xFF

    private let register: @Sendable (UInt16) async throws -> UInt8?
    private let isConsentCode: @Sendable (UInt16, UInt8) async throws -> Bool
    private let delete: @Sendable (UInt8) async throws -> Void
    private let consents = Consents()

    let databaseChangeIncrement: Characteristic<UInt32>
    let userIndex: Characteristic<UInt8>
    /// What reading and writing demand of the link.
    let security: AttributeSecurity

    /// Describes the users.
    ///
    /// - Parameters:
    ///   - security: What it takes to see and change anything: encryption at least.
    ///   - register: Adds a user with a consent code of 0 through 9999, and returns its index, 0 through 254; `nil` when
    ///     there is no room.
    ///   - isConsentCode: Tells whether a code is that of a user. There are 10 000 codes: refuse to go on after a few
    ///     wrong ones.
    ///   - delete: Deletes the data of a user.
    ///   - increment: Tells the number of changes of a user's data.
    ///   - setIncrement: Keeps the number of changes that a central has written, after it has changed something.
    public init(
        security: AttributeSecurity = .encrypted,
        register: @escaping @Sendable (_ consentCode: UInt16) async throws -> UInt8?,
        isConsentCode: @escaping @Sendable (_ code: UInt16, _ user: UInt8) async throws -> Bool,
        delete: @escaping @Sendable (_ user: UInt8) async throws -> Void,
        increment: @escaping @Sendable (_ user: UInt8) async throws -> UInt32,
        setIncrement: @escaping @Sendable (_ increment: UInt32, _ user: UInt8) async throws -> Void
    ) {
        self.security = security
        self.register = register
        self.isConsentCode = isConsentCode
        self.delete = delete
        let consents = consents
        databaseChangeIncrement = Characteristic(
            .databaseChangeIncrement,
            [.read, .write, .notify],
            security: security
        ) {
            Read { central in try await increment(consents.user(of: central)) }
            Write { value, central in try await setIncrement(value, consents.user(of: central)) }
        }
        userIndex = Characteristic(.userIndex, .read, security: security) {
            Read { central in (try? consents.user(of: central)) ?? UserData.unknownUser }
        }
    }

    /// Makes the characteristic of a field; keep it in a constant.
    ///
    /// - Parameters:
    ///   - field: What is known of a user.
    ///   - read: Tells it.
    ///   - write: Changes it.
    /// - Returns: The characteristic.
    public func characteristic<Value>(
        _ field: UserDataField<Value>,
        read: @escaping @Sendable (_ user: UInt8) async throws -> Value,
        write: @escaping @Sendable (_ value: Value, _ user: UInt8) async throws -> Void
    ) -> Characteristic<Value> {
        let consents = consents
        return Characteristic(field.uuid, [.read, .write], security: security) {
            Read { central in try await read(consents.user(of: central)) }
            Write { value, central in try await write(value, consents.user(of: central)) }
        }
    }

    /// The user whose data a central may see; `nil` for nobody's.
    public func user(of central: Central) -> UInt8? {
        try? consents.user(of: central)
    }

    func carryOut(
        _ request: UserControlRequest,
        of central: Central,
        in session: PeripheralSession
    ) async throws -> UserControlResponse {
        do {
            let (result, user) = try await outcome(of: request, by: central, in: session)
            return UserControlResponse(result, to: request.operation, user: user)
        } catch {
            // Nobody waits for a response any more.
            try Task.checkCancellation()
            return UserControlResponse(.operationFailed, to: request.operation)
        }
    }

    private func outcome(
        of request: UserControlRequest,
        by central: Central,
        in session: PeripheralSession
    ) async throws -> (UserControlResponse.Result, user: UInt8?) {
        switch request.operation {
        case .registerNewUser:
            guard let code = request.parameter[...].consentCode else { return (.invalidParameter, nil) }
            guard let user = try await register(code), user != Self.unknownUser else {
                return (.operationFailed, nil)
            }
            return (.success, user)
        case .consent:
            // By the time that the code is checked, the central may have left and be back.
            let connection = session.connection(of: central)
            guard let user = request.parameter.first, user != Self.unknownUser,
                let code = request.parameter.dropFirst().consentCode
            else { return (.invalidParameter, nil) }
            guard try await isConsentCode(code, user) else { return (.userNotAuthorized, nil) }
            consents.give(of: user, to: central, for: connection)
            return (.success, nil)
        case .deleteUserData:
            guard request.parameter.isEmpty else { return (.invalidParameter, nil) }
            guard let user = user(of: central) else { return (.userNotAuthorized, nil) }
            try await delete(user)
            consents.take(of: user)
            return (.success, nil)
        default:
            return (.operationNotSupported, nil)
        }
    }
}

extension ArraySlice<UInt8> {
    /// The consent code that these bytes are, if they are one.
    fileprivate var consentCode: UInt16? {
        guard let code = try? UInt16(gattBytes: Array(self)), code <= 9999 else { return nil }
        return code
    }
}

/// Which centrals may see whose data: each no longer than its connection lasts.
private final class Consents: Sendable {
    private struct Consent {
        var central: Central
        var user: UInt8
        var connection: Central.Connection
    }

    private let consents = Mutex<[Consent]>([])

    /// The user whose data a central may see.
    func user(of central: Central) throws(ATTError) -> UInt8 {
        let consent = consents.withLock { consents in consents.first { $0.central == central } }
        guard let consent, consent.connection.isOpen else { throw .userDataAccessNotPermitted }
        return consent.user
    }

    func give(of user: UInt8, to central: Central, for connection: Central.Connection?) {
        guard let connection, connection.isOpen else { return }
        let consent = Consent(central: central, user: user, connection: connection)
        consents.withLock { consents in
            consents.removeAll { $0.central == central || !$0.connection.isOpen }
            consents.append(consent)
        }
    }

    func take(of user: UInt8) {
        consents.withLock { consents in consents.removeAll { $0.user == user } }
    }
}

extension ATTError {
    /// The answer to a central that has no consent of the user: the application error 0x80 of the User Data Service
    /// specification 1.0, section 1.6.
    public static let userDataAccessNotPermitted = ATTError(rawValue: 0x80)
}
