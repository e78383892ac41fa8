/// Decides who may read and write a characteristic.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write], security: .encrypted) {
///     Authorization { central in await owners.contains(central) }
///     Read { await lamp.isOn }
///     Write { isOn in try await lamp.set(isOn) }
/// }
/// ```
///
/// It is asked before each read and write, when the link offers what the security demands, and before the handler. A
/// central that it does not admit is refused by `ATTError.insufficientAuthorization`, and one for which it throws as
/// described at ``Read``; the 4 seconds that a ``Read`` or ``Write`` has are for both together. The parts of a long
/// read are one read; a long write may be asked for more than once, with its first part and when it is complete.
///
/// Subscribing is not asked for: what is notified needs the security of the link.
///
/// See Core Specification, Vol 3, Part F, 3.2.5.
public struct Authorization: Sendable {
    let isAuthorized: AuthorizationHandler

    /// Asks whether the central may.
    public init(_ isAuthorized: @escaping @Sendable (_ central: Central) async throws -> Bool) {
        self.isAuthorized = isAuthorized
    }

    /// Asks whether anybody may.
    public init(_ isAuthorized: @escaping @Sendable () async throws -> Bool) {
        self.isAuthorized = { _ in try await isAuthorized() }
    }
}

/// Tells whether a central may read or write.
package typealias AuthorizationHandler = @Sendable (_ central: Central) async throws -> Bool
