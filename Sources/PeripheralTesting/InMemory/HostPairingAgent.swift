internal import PeripheralKit

/// Forwards pairing questions to the running peripheral.
struct HostPairingAgent: VirtualPairingAgent {
    let capability: PairingUser.Capability
    private let host: any PeripheralHost
    private let server: VirtualGATTServer

    /// - Returns: `nil` when the method has no agent. In this case, centrals cannot pair.
    init?(_ method: PairingMethod, for host: any PeripheralHost, on server: VirtualGATTServer) {
        switch method {
        case .none, .system: return nil
        case .justWorks: capability = .noInputNoOutput
        case .displayPasskey: capability = .displayOnly
        case .enterPasskey: capability = .keyboardOnly
        case .confirmNumber, .displayPasskeyOrConfirmNumber: capability = .displayYesNo
        case .enterOrDisplayPasskeyOrConfirmNumber: capability = .keyboardDisplay
        }
        self.host = host
        self.server = server
    }

    func authorize(_ central: Central) async -> Bool {
        await answer(.authorize, to: central) == .accept
    }

    func display(_ passkey: UInt32, for central: Central) async {
        // BlueZ does not wait for an answer either.
        guard await answer(.displayPasskey(passkey), to: central) == .reject, !Task.isCancelled else {
            return
        }
        server.disconnect(central.linkAddress)
    }

    func enterPasskey(for central: Central) async -> UInt32? {
        guard case .passkey(let passkey) = await answer(.enterPasskey, to: central) else { return nil }
        return passkey
    }

    func confirm(_ number: UInt32, for central: Central) async -> Bool {
        await answer(.confirmNumber(number), to: central) == .accept
    }

    private func answer(_ question: BackendPairingQuestion, to central: Central) async -> BackendPairingAnswer
    {
        await host.answer(BackendPairingRequest(central: central, question: question))
    }
}
