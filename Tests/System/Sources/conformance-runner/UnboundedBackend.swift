import PeripheralBlueZ
import PeripheralCore
import PeripheralKit

/// BlueZ without any pacing: each update counts as having left as soon as it was handed over.
///
/// What a program gets that trusts bluetoothd, to compare with.
struct UnboundedBackend: PeripheralBackend {
    let backend: BlueZBackend

    func serve(_ publication: Publication, for host: any PeripheralHost) async throws {
        try await backend.serve(publication, for: UnboundedHost(host: host))
    }
}

private struct UnboundedHost: PeripheralHost {
    let host: any PeripheralHost

    func read(_ request: ReadRequest) -> Answer { host.read(request) }
    func write(_ request: WriteRequest) -> Answer { host.write(request) }
    func answer(_ request: PairingRequest) async -> PairingAnswer { await host.answer(request) }
    /// All have ended for the host as soon as they are submitted.
    func isOver(_ update: Update.ID) -> Bool { false }
    func untilAnswered() async { await host.untilAnswered() }

    func handle(_ event: BackendEvent) {
        switch event {
        case .published(let published):
            let link = UnboundedLink(link: published.link, host: host)
            host.handle(
                .published(PublishedPeripheral(link: link, pacing: .unknown, window: published.window))
            )
        case .updateTaken, .updateEnded: break
        default: host.handle(event)
        }
    }
}

private struct UnboundedLink: BackendLink {
    let link: any BackendLink
    let host: any PeripheralHost

    func submit(_ update: Update) {
        link.submit(update)
        host.handle(.updateEnded(update.id, .delivered))
    }

    func abandon(_ update: Update.ID) { link.abandon(update) }
    func disconnect(_ central: Central.ID) async throws { try await link.disconnect(central) }
    func bondedCentrals() async throws -> [Central] { try await link.bondedCentrals() }
    func forget(_ central: Central.ID) async throws { try await link.forget(central) }
    func stop() { link.stop() }

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try await link.advertise(advertisements, restarting: restarted)
    }
}
