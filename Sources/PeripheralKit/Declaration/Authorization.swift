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
/// The peripheral calls the authorization handler before each read and write of the characteristic. If the
/// link does not have the required security, the peripheral does not call the authorization handler. The
/// ``Read`` or ``Write`` handler runs after the authorization handler. If the central is not authorized, the
/// peripheral refuses the request with `ATTError.insufficientAuthorization`. If the authorization handler
/// throws an error, the peripheral refuses the request. ``Read`` describes which ATT error the central
/// receives if a handler throws an error. The authorization handler and the ``Read`` or ``Write`` handler
/// must finish within 4 seconds in total.
///
/// - For a long read, the authorization handler runs once.
/// - For a long write, the authorization handler can run more than once: when the first part of the value
///   arrives, and after the last part has arrived.
/// - When a central subscribes, the authorization handler does not run. To protect the values that
///   subscribers receive, require a secure link with the `security` parameter of the characteristic.
///
/// The Core Specification defines authorization in Vol 3, Part F, 3.2.5.
public struct Authorization: Sendable {
    let isAuthorized: AuthorizationHandler

    /// Creates an authorization that depends on the central.
    ///
    /// - Parameter isAuthorized: Returns whether the given central is authorized.
    public init(_ isAuthorized: @escaping @Sendable (_ central: Central) async throws -> Bool) {
        self.isAuthorized = isAuthorized
    }

    /// Creates an authorization that is the same for all centrals.
    ///
    /// - Parameter isAuthorized: Returns whether centrals are currently authorized.
    public init(_ isAuthorized: @escaping @Sendable () async throws -> Bool) {
        self.isAuthorized = { _ in try await isAuthorized() }
    }
}

/// Returns whether a central is authorized to read or write.
package typealias AuthorizationHandler = @Sendable (_ central: Central) async throws -> Bool
