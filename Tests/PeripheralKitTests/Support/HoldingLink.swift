import PeripheralKit
import Synchronization

/// A link that holds what it is given until a test takes it.
final class HoldingLink: BackendLink {
    private struct State {
        var updates: [BackendUpdate] = []
        var submitted = 0
    }

    private let state = Mutex(State())
    private let react: @Sendable (BackendUpdate, _ number: Int) -> Void

    /// Creates a link that passes each update on to a test as well, with its number, from 1 on.
    init(_ react: @escaping @Sendable (BackendUpdate, _ number: Int) -> Void = { _, _ in }) {
        self.react = react
    }

    var underWay: [BackendUpdate] { state.withLock(\.updates) }

    func take(to recipients: BackendUpdate.Recipients) -> BackendUpdate? {
        state.withLock { state in
            let index = state.updates.firstIndex { $0.recipients == recipients }
            return index.map { state.updates.remove(at: $0) }
        }
    }

    func submit(_ update: BackendUpdate) {
        let number = state.withLock { state in
            state.updates.append(update)
            state.submitted += 1
            return state.submitted
        }
        react(update, number)
    }

    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() {}
}
