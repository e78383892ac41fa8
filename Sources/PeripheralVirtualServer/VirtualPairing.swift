internal import PeripheralCore
internal import PeripheralKit

/// One attempt of a central to pair with a ``VirtualGATTServer``.
///
/// The outcome is that of the kernel's `smp.c` and bluetoothd.
struct VirtualPairing: Sendable {
    /// The reason why an attempt has failed.
    struct Failure: Error {
        var message: String
        /// Whether the failure also ends the connection.
        var endsLink = false

        /// The agent answers for the methods that the peripheral declares, so without an agent there is none.
        ///
        /// `Pairing.system` declares none either.
        static let noMethod = Failure(
            message: "The peripheral declares no pairing method of its own, so no central can pair. "
                + "Declare one, such as pairing: .justWorks."
        )
        /// Pairing methods make the adapter pairable, unless they wait for a pairing window.
        static let noWindow = Failure(
            message: "The peripheral declares a pairing method, but no pairing window is open. "
                + "Open one with session.allowPairing(for:)."
        )
        static let tooLate = Failure(
            message: "The pairing question was not answered in time.",
            endsLink: true
        )
        static let declinedByCentral = Failure(message: "The central has refused to pair.", endsLink: true)
        static let declinedByPeripheral = Failure(message: "The peripheral has refused to pair.")
        static let nothingToRead = Failure(
            message: "The person enters the passkey that the peripheral displays, but here the peripheral "
                + "displays none: it asks for a passkey too. Pair with PairingUser.entering(_:) or "
                + "PairingUser.reading(_:)."
        )
        static let wrongPasskey = Failure(message: "The passkey is wrong.")
    }

    let central: Central
    let user: PairingUser
    /// The random identity address of the central, unless ``PairingUser/identityAddress`` replaces it.
    let identity: DeviceAddress
    let agent: (any VirtualPairingAgent)?
    /// The IO capability of the peripheral that this connection uses.
    let capability: PairingUser.Capability
    let isPairable: Bool
    let isBonded: Bool
    /// Whether the agent decides about a bond that Just Works would replace; if not, the bond stays.
    let asksBeforeRepairing: Bool

    private let passkey = UInt32.random(in: 0...999_999)

    /// The association model that the capabilities of both sides permit.
    private var possibleModel: AssociationModel {
        AssociationModel(
            central: user.capability,
            peripheral: capability,
            secureConnections: user.secureConnections
        )
    }

    /// The association model in use: Just Works, unless the central requests protection.
    private var model: AssociationModel {
        user.requiresAuthentication ? possibleModel : .justWorks
    }

    /// The security of the link when the attempt succeeds.
    var level: SecurityLevel {
        guard model != .justWorks else { return .encrypted }
        return user.secureConnections ? .secureConnections : .authenticated
    }

    /// The central as the stack knows it after bonding: with its identity address.
    var bondedCentral: Central {
        Central(
            address: user.identityAddress ?? identity,
            addressKind: user.identityAddress == nil ? central.addressKind : .public,
            isBonded: true,
            id: central.id
        )
    }

    /// Runs the attempt.
    ///
    /// - Throws: ``Failure`` or `CancellationError`.
    func run(within limit: Duration, on clock: any Clock<Duration>) async throws {
        guard let agent else { throw Failure.noMethod }
        guard isPairable || !user.isBonding else { throw Failure.noWindow }
        // A peripheral without input and output does not promise protection. Any other refuses to pair
        // without it.
        if user.requiresAuthentication, model == .justWorks, capability != .noInputNoOutput {
            throw Failure(message: "The two sides have no way to authenticate each other.")
        }
        // `JustWorksRepairing=never`: a central that replaces a bond has to authenticate itself.
        if model == .justWorks, isBonded, !asksBeforeRepairing {
            throw Failure(
                message:
                    "The peripheral is already bonded with the central. Delete the bond on the peripheral first."
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await ask(agent) }
            group.addTask {
                try await clock.sleep(for: limit)
                throw Failure.tooLate
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        try Task.checkCancellation()
    }

    private func ask(_ agent: any VirtualPairingAgent) async throws(Failure) {
        switch model {
        case .justWorks:
            guard await agent.authorize(central) else { throw .declinedByPeripheral }
        case .peripheralDisplaysPasskey:
            let entered = await whileDisplaying {
                await agent.display(passkey, for: central)
            } enter: {
                if let readDisplay = user.readDisplay { return await readDisplay(passkey) }
                return await user.enterPasskey()
            }
            guard let entered else { throw .declinedByCentral }
            guard entered == passkey else { throw .wrongPasskey }
        case .centralDisplaysPasskey:
            let entered = await whileDisplaying {
                await user.display(passkey)
            } enter: {
                await agent.enterPasskey(for: central)
            }
            guard let entered else { throw .declinedByPeripheral }
            guard entered == passkey else { throw .wrongPasskey }
        case .bothEnterPasskey:
            guard user.readDisplay == nil else { throw .nothingToRead }
            async let here = agent.enterPasskey(for: central)
            async let there = user.enterPasskey()
            guard let there = await there else { throw .declinedByCentral }
            guard let here = await here else { throw .declinedByPeripheral }
            guard here == there else { throw .wrongPasskey }
        case .numericComparison:
            try await compare(by: agent)
        }
    }

    /// Returns the entered passkey while the other side displays it.
    private func whileDisplaying(
        _ display: @escaping @Sendable () async -> Void,
        enter: @escaping @Sendable () async -> UInt32?
    ) async -> UInt32? {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await display() }
            defer { group.cancelAll() }
            return await enter()
        }
    }

    /// Asks both sides whether the numbers are equal; the first refusal ends the comparison.
    private func compare(by agent: any VirtualPairingAgent) async throws(Failure) {
        let failure = await withTaskGroup(of: Failure?.self) { group in
            group.addTask { await agent.confirm(passkey, for: central) ? nil : .declinedByPeripheral }
            group.addTask { await user.confirm(passkey) ? nil : .declinedByCentral }
            defer { group.cancelAll() }
            for await case .some(let failure) in group { return Failure?.some(failure) }
            return nil
        }
        if let failure { throw failure }
    }
}
