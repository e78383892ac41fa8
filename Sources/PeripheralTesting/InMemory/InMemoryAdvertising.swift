internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// What a peripheral in memory advertises: each advertisement at its place, off the air while it pauses.
final class InMemoryAdvertising: Sendable {
    private struct State {
        var wanted: [Advertisement] = []
        /// What is on the air, by its place.
        var onAir: [Int: AdvertisementID] = [:]
        var isEnded = false
    }

    private let server: VirtualGATTServer
    private let state = Mutex(State())

    init(on server: VirtualGATTServer) {
        self.server = server
    }

    /// - Throws: `DeclarationError` when one of them is not possible.
    func examine(_ advertisements: [Advertisement]) throws(DeclarationError) {
        let errors = advertisements.plans(for: .extended).flatMap(\.issues).filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
    }

    /// Advertises these, in place of what was advertised before.
    ///
    /// - Throws: `DeclarationError` when one of them is not possible; nothing is changed then.
    func set(_ advertisements: [Advertisement]) throws(DeclarationError) {
        try examine(advertisements)
        state.withLock { state in
            state.wanted = advertisements
            update(&state)
        }
    }

    /// Takes note that centrals have come or gone.
    func refresh() {
        state.withLock { update(&$0) }
    }

    /// Takes all off the air, for good.
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
            let content = VirtualAdvertisement(advertisement.plan(for: .extended))
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
    /// What the plan has on the air.
    fileprivate init(_ plan: AdvertisingPlan) {
        self.init(
            advertisingData: plan.advertisingData.bytes,
            scanResponse: plan.scanResponse.bytes,
            isConnectable: plan.isConnectable
        )
    }
}
