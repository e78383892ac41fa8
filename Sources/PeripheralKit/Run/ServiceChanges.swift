internal import PeripheralCore
internal import Synchronization

/// The changes of the services of a running peripheral, one at a time.
final class ServiceChanges: Sendable {
    struct State {
        var link: (any BackendLink)?
        /// The places of services that were removed.
        var formerPlaces = FormerPlaces()
        /// The counts of the updates of removed services, by the types of the characteristics.
        ///
        /// The most recently removed types are last.
        var removedTotals: [(characteristic: BluetoothUUID, counters: UpdateCounters)] = []
        /// The handle from which the next service looks for its handles in the table.
        var nextHandle: AttributeHandle = 0x0001
        /// The declarations of the present services.
        var declarations: [any GATTServiceDeclaration] = []
        /// The change under way.
        var change: Task<Void, any Error>?
        /// Whether the log says that the Database Hash no longer changes.
        var hasReportedFrozenHash = false
    }

    /// The maximum number of types in the counts of removed services.
    private static let totalsCapacity = 64

    /// The handle after which the next service looks for low handles again.
    private static let turningPoint: AttributeHandle = 0x2000

    private let turns = Turns()
    let work = ServiceWork()
    let state = Mutex(State())

    func begin(_ link: any BackendLink) {
        state.withLock { $0.link = link }
    }

    /// Refuses all waiting and later changes.
    func stop() {
        turns.close()
        // The link retains the backend, which retains its host.
        state.withLock { $0.link = nil }
    }

    /// Begins the work of added services.
    func begin(_ declarations: [any GATTServiceDeclaration], in runtime: PeripheralRuntime) {
        state.withLock { $0.declarations += declarations }
        for declaration in declarations { work.add(declaration, in: runtime) }
    }

    /// Ends the work of services that are about to be removed.
    func end(_ services: [GATTService]) async {
        state.withLock { state in
            state.declarations.removeAll { declaration in
                services.contains { $0.identity == declaration.service.identity }
            }
        }
        await work.end(services)
    }

    /// Returns the declarations of services.
    func declarations(of services: [GATTService]) -> [any GATTServiceDeclaration] {
        state.withLock { state in
            state.declarations.filter { declaration in
                services.contains { $0.identity == declaration.service.identity }
            }
        }
    }

    /// The link to the backend.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped`.
    func link() throws(PeripheralError) -> any BackendLink {
        guard let link = state.withLock({ $0.link }) else { throw .stopped }
        return link
    }

    /// Makes a change after all earlier changes.
    ///
    /// A change that has begun continues, even if the calling task is cancelled.
    func inTurn(_ change: @escaping @Sendable () async throws -> Void) async throws {
        try await turns.enter()
        let task = Task {
            defer { turns.leave() }
            try await change()
        }
        state.withLock { $0.change = task }
        try await task.value
    }

    /// Waits until the change under way has ended, after ``stop()``.
    func end() async {
        _ = await state.withLock { $0.change.take() }?.result
    }

    /// Counts the updates of a removed characteristic.
    func count(_ counters: UpdateCounters, of characteristic: BluetoothUUID) {
        guard counters != UpdateCounters() else { return }
        state.withLock { state in
            var total = counters
            if let index = state.removedTotals.firstIndex(where: { $0.characteristic == characteristic }) {
                total.add(state.removedTotals.remove(at: index).counters)
            }
            state.removedTotals.append((characteristic, total))
            if state.removedTotals.count > Self.totalsCapacity { state.removedTotals.removeFirst() }
        }
    }

    /// Chooses handles in the table for services, which no present service has.
    ///
    /// Handles are used again late, because late events can name them. But they stay low, because some
    /// tables have an entry for each lower handle.
    ///
    /// - Returns: The first handle of each service; `nil` if there is no room.
    func makeHandles(
        for services: [ServiceDescription],
        besides present: [ClosedRange<AttributeHandle>]
    ) -> [AttributeHandle]? {
        state.withLock { state in
            var occupied = present
            var starts: [AttributeHandle] = []
            for service in services {
                let size = service.attributeCount
                guard
                    let start = Self.start(of: size, from: state.nextHandle, between: occupied)
                        ?? Self.start(of: size, from: 0x0001, between: occupied)
                else { return nil }
                let last = AttributeHandle(rawValue: start.rawValue + UInt16(size - 1))
                occupied.append(start...last)
                starts.append(start)
                state.nextHandle = last.advanced(by: 1) ?? 0x0001
            }
            if state.nextHandle > Self.turningPoint { state.nextHandle = 0x0001 }
            return starts
        }
    }

    private static func start(
        of size: Int,
        from first: AttributeHandle,
        between occupied: [ClosedRange<AttributeHandle>]
    ) -> AttributeHandle? {
        var start = first
        while let last = UInt16(exactly: size - 1).flatMap(start.advanced) {
            guard let obstacle = occupied.first(where: { $0.overlaps(start...last) }) else { return start }
            guard let next = obstacle.upperBound.advanced(by: 1) else { return nil }
            start = next
        }
        return nil
    }
}
