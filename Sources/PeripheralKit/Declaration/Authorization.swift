/// Decides which centrals can read and write a characteristic.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write], security: .encrypted) {
///     Authorization { central in await owners.contains(central) }
///     Read { await lamp.isOn }
///     Write { isOn in try await lamp.set(isOn) }
/// }
/// ```
///
/// The handler is called before each read and write: after the link has the required security, and before the
/// ``Read`` or ``Write`` handler. A central that is not authorized is refused with
/// `ATTError.insufficientAuthorization`. An error that the handler throws refuses the request as described at
/// ``Read``. Both handlers together have the 4 seconds of a ``Read`` or ``Write``.
///
/// - A long read is authorized once.
/// - A long write can be authorized more than once: with its first part, and when it is complete.
/// - A subscription is not authorized. Protect the values that are sent by the security of the link.
///
/// See Core Specification, Vol 3, Part F, 3.2.5.
public struct Authorization: Sendable {
    let isAuthorized: AuthorizationHandler

    /// Authorizes the central with the given handler.
    public init(_ isAuthorized: @escaping @Sendable (_ central: Central) async throws -> Bool) {
        self.isAuthorized = isAuthorized
    }

    /// Authorizes any central with the given handler.
    public init(_ isAuthorized: @escaping @Sendable () async throws -> Bool) {
        self.isAuthorized = { _ in try await isAuthorized() }
    }
}

/// Returns whether a central is authorized to read or write.
package typealias AuthorizationHandler = @Sendable (_ central: Central) async throws -> Bool
