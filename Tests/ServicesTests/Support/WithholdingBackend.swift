import PeripheralKit
import PeripheralTesting
import Synchronization

/// A stack in memory that keeps some updates until a central leaves, and then fails them, as BlueZ does what
/// waits for room on the link.
///
/// It does not report the end of subscriptions. BlueZ does not always report it when a central disconnects.
struct WithholdingBackend: PeripheralBackend {
    let backend: InMemoryBackend
    /// Whether an update is kept.
    let withholds: @Sendable (BackendUpdate) -> Bool

    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        try await backend.serve(publication, for: WithholdingHost(host: host, withholds: withholds))
    }
}

private final class WithholdingHost: PeripheralHost {
    private let host: any PeripheralHost
    private let withholds: @Sendable (BackendUpdate) -> Bool
    private let withheld = Mutex<[BackendUpdate.ID]>([])

    init(host: any PeripheralHost, withholds: @escaping @Sendable (BackendUpdate) -> Bool) {
        self.host = host
        self.withholds = withholds
    }

    func read(_ request: BackendReadRequest) -> BackendAnswer { host.read(request) }
    func write(_ request: BackendWriteRequest) -> BackendAnswer { host.write(request) }
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer { await host.answer(request) }
    func untilAnswered() async { await host.untilAnswered() }

    /// Keeps an update if `withholds` selects it.
    private func keep(_ update: BackendUpdate) -> Bool {
        withheld.withLock { $0.append(update.id) }
        if withholds(update) { return true }
        withheld.withLock { $0.removeAll { $0 == update.id } }
        return false
    }

    func handle(_ event: BackendEvent) {
        switch event {
        case .published(let published):
            let link = WithholdingLink(link: published.link, withholds: keep)
            host.handle(
                .published(
                    PublishedPeripheral(
                        link: link,
                        completionReporting: published.completionReporting,
                        window: published.window
                    )
                )
            )
        case .unsubscribed: break
        case .disconnected:
            host.handle(event)
            let error = PeripheralError(code: .disconnected, message: "The central is gone.")
            for update in withheld.withLock(\.self) { host.handle(.updateEnded(update, .failed(error))) }
        default: host.handle(event)
        }
    }
}

private struct WithholdingLink: BackendLink {
    let link: any BackendLink
    let withholds: @Sendable (BackendUpdate) -> Bool

    func submit(_ update: BackendUpdate) {
        if !withholds(update) { link.submit(update) }
    }

    func giveUp(_ update: BackendUpdate.ID) { link.giveUp(update) }
    func untilAnswersAreForwarded() async { await link.untilAnswersAreForwarded() }
    func untilUpdatesAreForwarded(for central: Central.ID) async {
        await link.untilUpdatesAreForwarded(for: central)
    }
    func disconnect(_ central: Central.ID) async throws { try await link.disconnect(central) }
    func bondedCentrals() async throws -> [Central] { try await link.bondedCentrals() }
    func forget(_ central: Central.ID) async throws { try await link.forget(central) }
    func stop() { link.stop() }

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try await link.advertise(advertisements, restarting: restarted)
    }
}
