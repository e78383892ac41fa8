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
/// The handler is called before each read and write. When the handler is called, the link already has the
/// required security. The ``Read`` or ``Write`` handler is called afterwards. A request of a central that is
/// not authorized is refused with `ATTError.insufficientAuthorization`. An error that the handler throws
/// refuses the request as described at ``Read``. The authorization and the ``Read`` or ``Write`` handler
/// together can take 4 seconds.
///
/// - A long read is authorized once.
/// - A long write can be authorized more than once: at its first part, and after its last part.
/// - A subscription is not authorized. To protect the values that are sent to subscribers, require a secure
///   link.
///
/// See Core Specification, Vol 3, Part F, 3.2.5.
public struct Authorization: Sendable {
    let isAuthorized: AuthorizationHandler

    /// Creates an authorization whose handler receives the central.
    public init(_ isAuthorized: @escaping @Sendable (_ central: Central) async throws -> Bool) {
        self.isAuthorized = isAuthorized
    }

    /// Creates an authorization whose handler does not receive the central.
    public init(_ isAuthorized: @escaping @Sendable () async throws -> Bool) {
        self.isAuthorized = { _ in try await isAuthorized() }
    }
}

/// Returns whether a central is authorized to read or write.
package typealias AuthorizationHandler = @Sendable (_ central: Central) async throws -> Bool
