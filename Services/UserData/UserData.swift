public import PeripheralKit
private import Synchronization

/// The users of a device, and the access of centrals to the user data.
///
/// Create a `UserData` value, and use the value to create the characteristics of a ``UserDataService``:
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
/// A central can access the data of only one user at a time. Access begins when the user gives consent.
/// Access ends when the connection ends. Without the consent of a user, a request for user data fails with
/// `ATTError.userDataAccessNotPermitted`.
public struct UserData: Sendable {
    /// The index that represents an unknown user.
    public static let unknownUser: UInt8 = 0xFF

    private let register: @Sendable (UInt16) async throws -> UInt8?
    private let isConsentCode: @Sendable (UInt16, UInt8) async throws -> Bool
    private let delete: @Sendable (UInt8) async throws -> Void
    private let consents = Consents()

    let databaseChangeIncrement: Characteristic<UInt32>
    let userIndex: Characteristic<UInt8>
    /// The security required to read and write.
    let security: AttributeSecurity

    /// Describes the users.
    ///
    /// - Parameters:
    ///   - security: The security required to read and change the user data. Require at least encryption for
    ///     user data.
    ///   - register: Adds a user with a consent code of 0 through 9999. The closure returns the index of the
    ///     new user, 0 through 254. The closure returns `nil` if the device cannot store another user.
    ///   - isConsentCode: Returns whether a code is the consent code of a user. Limit the number of attempts
    ///     with a wrong code, because only 10,000 codes exist.
    ///   - delete: Deletes the data of a user.
    ///   - increment: Returns the number of changes to the data of a user.
    ///   - setIncrement: Stores the number of changes to the data of a user. A central changes the data
    ///     first, and then writes the number of changes.
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

    /// Creates the characteristic for a field of the user data.
    ///
    /// Store the new characteristic in a constant.
    ///
    /// - Parameters:
    ///   - field: The field that the characteristic represents.
    ///   - read: Returns the value of the field for a user.
    ///   - write: Changes the value of the field for a user.
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

    /// Returns the index of the user who has given consent to a central.
    ///
    /// The result is `nil` if the central does not have the consent of a user.
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
            // After a cancellation, no central waits for a response.
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
            // The central may reconnect while the code is checked.
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
    /// The consent code in these bytes; `nil` when they are not a valid code.
    fileprivate var consentCode: UInt16? {
        guard let code = try? UInt16(gattBytes: Array(self)), code <= 9999 else { return nil }
        return code
    }
}

/// The users' consents, each for one connection of a central.
private final class Consents: Sendable {
    private struct Consent {
        var central: Central
        var user: UInt8
        var connection: Central.Connection
    }

    private let consents = Mutex<[Consent]>([])

    /// Returns the user whose data a central has access to.
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
    /// The error for a central that does not have the consent of the user.
    ///
    /// The User Data Service specification 1.0 defines the application error 0x80 in section 1.6.
    public static let userDataAccessNotPermitted = ATTError(rawValue: 0x80)
}
