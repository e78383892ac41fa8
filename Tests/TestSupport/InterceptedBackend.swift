internal import Logging
package import PeripheralKit

/// A backend whose updates and events a test holds back or changes on their way.
package struct InterceptedBackend<Base: PeripheralBackend>: PeripheralBackend {
    private let base: Base
    private let submit: @Sendable (BackendUpdate, any BackendLink) -> Void
    private let add: @Sendable (BackendServices, any BackendLink) async throws -> Void
    private let handle: @Sendable (BackendEvent, any PeripheralHost) -> Void

    /// Creates a backend on another one.
    ///
    /// - Parameters:
    ///   - base: The backend that serves the peripheral.
    ///   - submit: Called with each update that the peripheral submits, and with the link of `base`.
    ///   - add: Called with the services that the peripheral adds, and with the link of `base`.
    ///   - handle: Called with each event of `base`, and with the peripheral.
    package init(
        _ base: Base,
        submit: @escaping @Sendable (BackendUpdate, any BackendLink) -> Void,
        add: @escaping @Sendable (BackendServices, any BackendLink) async throws -> Void = {
            try await $1.add($0)
        },
        handle: @escaping @Sendable (BackendEvent, any PeripheralHost) -> Void = { $1.handle($0) }
    ) {
        (self.base, self.submit, self.add, self.handle) = (base, submit, add, handle)
    }

    package func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        let host = InterceptedHost(
            host: host,
            submitUpdate: submit,
            addServices: add,
            handleEvent: handle
        )
        try await base.serve(publication, for: host)
    }
}

private struct InterceptedHost: PeripheralHost {
    let host: any PeripheralHost
    let submitUpdate: @Sendable (BackendUpdate, any BackendLink) -> Void
    let addServices: @Sendable (BackendServices, any BackendLink) async throws -> Void
    let handleEvent: @Sendable (BackendEvent, any PeripheralHost) -> Void

    var logger: Logger { host.logger }
    var allowsPairing: Bool { host.allowsPairing }

    func read(_ request: BackendReadRequest) -> BackendAnswer { host.read(request) }
    func write(_ request: BackendWriteRequest) -> BackendAnswer { host.write(request) }
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer { await host.answer(request) }
    func untilAnswered() async { await host.untilAnswered() }
    func open(_ channel: any BackendChannel, of central: Central.ID, through listener: Int) {
        host.open(channel, of: central, through: listener)
    }

    func handle(_ event: BackendEvent) {
        guard case .published(var published) = event else { return handleEvent(event, host) }
        published.link = InterceptedLink(
            link: published.link,
            submitUpdate: submitUpdate,
            addServices: addServices
        )
        handleEvent(.published(published), host)
    }
}

private struct InterceptedLink: BackendLink {
    let link: any BackendLink
    let submitUpdate: @Sendable (BackendUpdate, any BackendLink) -> Void
    let addServices: @Sendable (BackendServices, any BackendLink) async throws -> Void

    func submit(_ update: BackendUpdate) { submitUpdate(update, link) }
    func giveUp(_ update: BackendUpdate.ID) { link.giveUp(update) }
    func untilAnswersAreForwarded() async { await link.untilAnswersAreForwarded() }
    func untilUpdatesAreForwarded(for central: Central.ID) async {
        await link.untilUpdatesAreForwarded(for: central)
    }
    func disconnect(_ central: Central.ID) async throws { try await link.disconnect(central) }
    func bondedCentrals() async throws -> [Central] { try await link.bondedCentrals() }
    func forget(_ central: Central.ID) async throws { try await link.forget(central) }
    func pairingAllowanceChanged() async throws { try await link.pairingAllowanceChanged() }
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try await link.advertise(advertisements, restarting: restarted)
    }
    func add(_ services: BackendServices) async throws { try await addServices(services, link) }
    func examine(_ services: BackendServices) throws { try link.examine(services) }
    func remove(_ services: [AttributeHandle]) async throws { try await link.remove(services) }
    func stop() { link.stop() }
}
