import PeripheralKit
import Synchronization

/// A backend whose updates wait at a gate, as they do on their way to a Bluetooth stack, or inside one while
/// a link carries nothing.
struct GatedBackend<Base: PeripheralBackend>: PeripheralBackend {
    let base: Base
    let gate = UpdateGate()

    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        try await base.serve(publication, for: GatedHost(host: host, gate: gate))
    }
}

/// Where updates wait while it is closed.
final class UpdateGate: Sendable {
    private struct State {
        var isClosed = false
        var updates: [BackendUpdate] = []
    }

    private let state = Mutex(State())
    fileprivate let link = Mutex<(any BackendLink)?>(nil)

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func open() {
        state.withLock { state in
            state.isClosed = false
            for update in state.updates { link.withLock(\.self)?.submit(update) }
            state.updates = []
        }
    }

    fileprivate func submit(_ update: BackendUpdate) {
        state.withLock { state in
            if state.isClosed { state.updates.append(update) } else { link.withLock(\.self)?.submit(update) }
        }
    }
}

private struct GatedHost: PeripheralHost {
    let host: any PeripheralHost
    let gate: UpdateGate

    func read(_ request: BackendReadRequest) -> BackendAnswer { host.read(request) }
    func write(_ request: BackendWriteRequest) -> BackendAnswer { host.write(request) }
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer { await host.answer(request) }
    func untilAnswered() async { await host.untilAnswered() }

    func handle(_ event: BackendEvent) {
        switch event {
        case .published(var published):
            gate.link.withLock { $0 = published.link }
            published.link = GatedLink(link: published.link, gate: gate)
            host.handle(.published(published))
        default: host.handle(event)
        }
    }
}

private struct GatedLink: BackendLink {
    let link: any BackendLink
    let gate: UpdateGate

    func submit(_ update: BackendUpdate) { gate.submit(update) }
    func giveUp(_ update: BackendUpdate.ID) { link.giveUp(update) }
    func untilAnswersAreForwarded() async { await link.untilAnswersAreForwarded() }
    func untilUpdatesAreForwarded(for central: Central.ID) async {
        await link.untilUpdatesAreForwarded(for: central)
    }
    func disconnect(_ central: Central.ID) async throws { try await link.disconnect(central) }
    func bondedCentrals() async throws -> [Central] { try await link.bondedCentrals() }
    func forget(_ central: Central.ID) async throws { try await link.forget(central) }
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try await link.advertise(advertisements, restarting: restarted)
    }
    func stop() { link.stop() }
}
