internal import PeripheralCore
internal import PeripheralKit

/// One attempt of a central to pair with a ``VirtualGATTServer``, as the kernel's `smp.c` and bluetoothd let it
/// come out.
struct VirtualPairing: Sendable {
    /// Why an attempt has failed.
    struct Failure: Error {
        var message: String
        /// Whether the link is given up with it.
        var endsLink = false

        static let tooLate = Failure(message: "Nobody has answered in time.", endsLink: true)
        static let declinedByCentral = Failure(message: "The central has declined.", endsLink: true)
        static let declinedByPeripheral = Failure(message: "The peripheral has declined.")
        static let wrongPasskey = Failure(message: "The passkey is wrong.")
    }

    let central: Central
    let user: PairingUser
    /// The lasting address of the central, which is random; ``PairingUser/identityAddress`` takes its place.
    let identity: DeviceAddress
    let agent: (any VirtualPairingAgent)?
    /// What the peripheral has, as far as this connection knows.
    let capability: PairingUser.Capability
    let isPairable: Bool
    let isBonded: Bool
    /// Whether the agent decides about a bond that Just Works would replace; otherwise it stays.
    let asksBeforeRepairing: Bool

    private let passkey = UInt32.random(in: 0...999_999)

    /// What both can make sure of.
    private var possibleModel: AssociationModel {
        AssociationModel(
            central: user.capability,
            peripheral: capability,
            secureConnections: user.secureConnections
        )
    }

    /// What they do: nothing, unless the central asks for protection.
    private var model: AssociationModel {
        user.requiresAuthentication ? possibleModel : .justWorks
    }

    /// What the link offers when the attempt succeeds.
    var level: SecurityLevel {
        guard model != .justWorks else { return .encrypted }
        return user.secureConnections ? .secureConnections : .authenticated
    }

    /// The central as it is known when both bond: by its lasting address.
    var bondedCentral: Central {
        Central(
            address: user.identityAddress ?? identity,
            addressKind: user.identityAddress == nil ? central.addressKind : .public,
            isBonded: true,
            id: central.id
        )
    }

    /// Makes the attempt.
    ///
    /// - Throws: ``Failure`` or `CancellationError`.
    func run(within limit: Duration, on clock: any Clock<Duration>) async throws {
        guard isPairable || !user.isBonding else { throw Failure(message: "The peripheral does not bond.") }
        guard let agent else { throw Failure(message: "The peripheral has no pairing agent.") }
        // A peripheral that has nothing to show does not promise protection; another refuses to go without it.
        if user.requiresAuthentication, model == .justWorks, capability != .noInputNoOutput {
            throw Failure(message: "The two have no way to authenticate each other.")
        }
        // `JustWorksRepairing=never`: a central that replaces a bond has to prove its identity.
        if model == .justWorks, isBonded, !asksBeforeRepairing {
            throw Failure(message: "The peripheral is bonded with the central.")
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
                await user.enterPasskey()
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
            async let here = agent.enterPasskey(for: central)
            async let there = user.enterPasskey()
            guard let there = await there else { throw .declinedByCentral }
            guard let here = await here else { throw .declinedByPeripheral }
            guard here == there else { throw .wrongPasskey }
        case .numericComparison:
            try await compare(by: agent)
        }
    }

    /// What is entered, while the other side displays something.
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

    /// Has both say whether the numbers are the same; the first no is enough.
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
