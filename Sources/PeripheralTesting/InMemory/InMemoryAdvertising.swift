internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The advertisements of a peripheral in memory, by their index.
///
/// A paused advertisement is off the air.
final class InMemoryAdvertising: Sendable {
    private struct State {
        var wanted: [Advertisement] = []
        /// The advertisements on the air, by their index.
        var onAir: [Int: AdvertisementID] = [:]
        var isEnded = false
    }

    private let server: VirtualGATTServer
    private let capabilities: AdvertisingCapabilities
    private let state = Mutex(State())

    init(on server: VirtualGATTServer, capabilities: AdvertisingCapabilities) {
        (self.server, self.capabilities) = (server, capabilities)
    }

    /// - Throws: `DeclarationError` when one of the advertisements is not possible.
    func examine(_ advertisements: [Advertisement]) throws(DeclarationError) {
        let issues = advertisements.plans(for: capabilities).flatMap(\.issues)
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
    }

    /// Replaces the advertisements.
    ///
    /// - Throws: `DeclarationError` when one of the advertisements is not possible. In this case, no
    ///   advertisement changes.
    func set(_ advertisements: [Advertisement]) throws(DeclarationError) {
        try examine(advertisements)
        state.withLock { state in
            state.wanted = advertisements
            update(&state)
        }
    }

    /// Pauses or resumes advertisements after centrals have connected or disconnected.
    func refresh() {
        state.withLock { update(&$0) }
    }

    /// Takes all advertisements off the air permanently.
    func end() {
        state.withLock { state in
            (state.wanted, state.isEnded) = ([], true)
            for id in state.onAir.values { server.withdraw(id) }
            state.onAir = [:]
        }
    }

    private func update(_ state: inout State) {
        guard !state.isEnded else { return }
        let isConnected = !server.centrals.isEmpty
        for (number, id) in state.onAir where !state.wanted.indices.contains(number) {
            server.withdraw(id)
            state.onAir[number] = nil
        }
        for (number, advertisement) in state.wanted.enumerated() {
            let isPausing = isConnected && advertisement.whileConnected == .pause
            let content = VirtualAdvertisement(advertisement.plan(for: capabilities))
            switch (state.onAir[number], isPausing) {
            case (let id?, true):
                server.withdraw(id)
                state.onAir[number] = nil
            case (let id?, false): server.update(id, to: content)
            case (nil, true): break
            case (nil, false): state.onAir[number] = server.advertise(content)
            }
        }
    }
}

extension VirtualAdvertisement {
    /// Creates the advertisement that a plan puts on the air.
    fileprivate init(_ plan: AdvertisingPlan) {
        self.init(
            advertisingData: plan.advertisingData.bytes,
            scanResponse: plan.scanResponse.bytes,
            isConnectable: plan.isConnectable,
            interval: plan.interval ?? .every(.milliseconds(1280))
        )
    }
}
