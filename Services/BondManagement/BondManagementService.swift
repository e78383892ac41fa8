public import PeripheralKit

/// The Bond Management service, 0x181E, which implements the Bond Management Service specification 1.0.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralBondManagement
/// import PeripheralKit
///
/// let bonds = BondManagementService(deleting: [.requestingDevice]) { code, _ in
///     code == Array("4711".utf8)
/// }
/// let peripheral = Peripheral("Lock", pairing: .justWorks) { bonds }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// The service can refuse a request with an error that the specification defines. After the service accepts a
/// request, it deletes the bonds as follows:
///
/// - The service immediately deletes the bonds of other centrals, if the request includes these bonds.
///   Deleting the bond of a central ends the connection to that central.
/// - The service deletes the bond of the requesting central when that central disconnects. If the requesting
///   central does not disconnect within 2 seconds, the service deletes the bond and ends the connection.
///
/// The service immediately carries out all pending deletions of bonds when the closure that you pass to `run`
/// returns. The following events cancel the pending deletions of bonds:
///
/// - The task of the peripheral is cancelled.
/// - The program is killed.
/// - The Bluetooth stack stops.
///
/// Bonds belong to the device, not to the peripheral. A request to delete all bonds also deletes the bonds
/// with keyboards and loudspeakers, and the bonds that other programs use. If the device also uses Bluetooth
/// for another purpose, do not allow centrals to delete all bonds. A central can have a BR/EDR bond and an LE
/// bond. BlueZ stores both bonds together, and deletes both bonds together.
public struct BondManagementService: GATTServiceDeclaration {
    /// The Bond Management Control Point characteristic, 0x2AA4, which centrals write.
    public let controlPoint: Characteristic<BondManagementRequest>

    /// The Bond Management Feature characteristic, 0x2AA5, which centrals read.
    public let feature: Characteristic<BondManagementFeature>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - scopes: The bonds that centrals can delete.
    ///   - transport: The Bluetooth transport of the bonds that centrals can delete: LE, BR/EDR or both. If
    ///     the device supports both LE and BR/EDR, the specification requires ``BondTransport/both``.
    ///   - security: The link security that a central needs to write the control point and to read the
    ///     features. The Bond Management Service specification requires at least encryption.
    ///   - isAuthorized: A closure that returns whether the given authorization code permits a central to
    ///     delete bonds. The authorization code is empty if the central has sent no code. If you omit the
    ///     closure, the service requires no authorization code and ignores received codes.
    public init(
        deleting scopes: Set<BondScope> = [.requestingDevice],
        of transport: BondTransport = .lowEnergy,
        security: AttributeSecurity = .encrypted,
        authorizedBy isAuthorized: (
            @Sendable (_ authorizationCode: [UInt8], _ central: Central) async throws -> Bool
        )? = nil
    ) {
        feature = Characteristic(
            .bondManagementFeature,
            value: BondManagementFeature(scopes, of: transport, isAuthorized: isAuthorized != nil),
            security: security
        )
        controlPoint = Characteristic(.bondManagementControlPoint, .write, security: security) {
            ControlPoint(
                accept: { request, central, _ in
                    guard let scope = request.scope(among: scopes, of: transport) else {
                        throw ATTError.bondManagementOperationNotSupported
                    }
                    if let isAuthorized, try await !isAuthorized(request.authorizationCode, central) {
                        throw ATTError.insufficientAuthorization
                    }
                    if scope == .requestingDevice, !central.isBonded {
                        throw ATTError.bondManagementOperationFailed
                    }
                },
                performWithoutResponse: { request, central, session in
                    guard let scope = request.scope(among: scopes, of: transport) else { return }
                    try await scope.forgetBonds(askedBy: central, in: session)
                }
            )
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.bondManagement) {
            controlPoint
            feature
        }
    }
}

extension BondManagementRequest {
    fileprivate func scope(among scopes: Set<BondScope>, of transport: BondTransport) -> BondScope? {
        scopes.first { Self(delete: $0, of: transport).operationCode == operationCode }
    }
}

extension BondScope {
    /// Deletes the bonds, with the bond of the requesting central last.
    ///
    /// This order lets the central receive the response. The task is cancelled when the central disconnects.
    /// This ends only the wait. The calls run in separate tasks, because a call in a cancelled task fails.
    fileprivate func forgetBonds(askedBy central: Central, in session: PeripheralSession) async throws {
        let others = Task {
            if self != .requestingDevice { try await forgetOthers(than: central, in: session) }
        }
        if self != .allButRequestingDevice { try? await Task.sleep(for: .seconds(2)) }
        let all = Task {
            let outcome = await others.result
            if self != .allButRequestingDevice { try await session.forget(central) }
            try outcome.get()
        }
        try await all.value
    }

    /// Forgets the bonds of all other centrals, even if one of these bonds cannot be forgotten.
    private func forgetOthers(than central: Central, in session: PeripheralSession) async throws {
        var failure: (any Error)?
        for other in try await session.bondedCentrals() where other != central {
            do { try await session.forget(other) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension ATTError {
    /// The error for a ``BondManagementRequest`` that the device does not support.
    ///
    /// The value is the application error 0x80 of the Bond Management Service specification 1.0.1, section
    /// 1.6.
    public static let bondManagementOperationNotSupported = ATTError(rawValue: 0x80)

    /// The error for a central that asks to delete its bond, but is not bonded.
    ///
    /// The value is the application error 0x81 of the Bond Management Service specification 1.0.1, section
    /// 1.6.
    public static let bondManagementOperationFailed = ATTError(rawValue: 0x81)
}
