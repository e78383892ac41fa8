public import PeripheralKit

/// The Bond Management service, 0x181E, of the Bond Management Service specification 1.0.1.
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
/// A request is refused by the error of the specification, or the write succeeds, and the bonds are deleted after that: those of
/// others at once, which ends their connections; that of the central that asks when it has left, or after 2 seconds, by which
/// its connection ends. They are deleted as well when the body of the run ends before. When the run is cancelled, the program
/// is killed or the Bluetooth stack goes away, those that are still to be deleted stay.
///
/// Bonds belong to the device, not to the peripheral: to delete all of them also deletes those of keyboards, loudspeakers
/// and other programs. Allow it where the device is the peripheral and nothing else. BlueZ keeps the bonds of both
/// transports together, and deletes them together.
public struct BondManagementService: GATTServiceDeclaration {
    /// The Bond Management Control Point, 0x2AA4, which centrals write.
    public let controlPoint: Characteristic<BondManagementRequest>

    /// The Bond Management Feature, 0x2AA5, which centrals read.
    public let feature: Characteristic<BondManagementFeature>

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - scopes: Whose bonds centrals may delete.
    ///   - transport: Of which transport: ``BondTransport/both`` where the device has classic Bluetooth as well, as the
    ///     specification demands.
    ///   - security: What it takes to write the control point and to read the features: encryption at least, as the
    ///     specification demands.
    ///   - isAuthorized: Whether a central may that has sent this code; the code is empty when it has sent none. Without
    ///     this, no code is needed, and one that is sent is ignored.
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

    /// The service as it is published.
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
    /// The central that asks comes last, and has time to learn that its request was taken.
    ///
    /// This task is cancelled when the central leaves, which ends no more than the wait: a call in a cancelled task fails.
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

    /// Also when one cannot be forgotten, the others are.
    private func forgetOthers(than central: Central, in session: PeripheralSession) async throws {
        var failure: (any Error)?
        for other in try await session.bondedCentrals() where other != central {
            do { try await session.forget(other) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension ATTError {
    /// The answer to a ``BondManagementRequest`` that the device does not take: the application error 0x80 of the Bond
    /// Management Service specification 1.0.1, section 1.6.
    public static let bondManagementOperationNotSupported = ATTError(rawValue: 0x80)

    /// The answer to a ``BondManagementRequest`` of a central that has no bond to delete: the application error 0x81 of
    /// the Bond Management Service specification 1.0.1, section 1.6.
    public static let bondManagementOperationFailed = ATTError(rawValue: 0x81)
}
