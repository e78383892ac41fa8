internal import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// The handles of the database on the air, which stay the same when the database is registered again.
///
/// The handles also stay the same when another run of the program registers the database. Centrals cache
/// attributes by handle. Bonded centrals cache attributes permanently.
final class AssignedHandles: Sendable {
    private struct State {
        /// The requested handles if ``isPinned``; otherwise the handles that bluetoothd has assigned.
        var handles: [AttributeHandle: AttributeHandle]
        var isPinned = false
        /// The services that can move without a central noticing.
        var movable: Set<Int>
        /// The services that the program has removed.
        var removed: Set<Int> = []
        /// The handles of the program's other services.
        var others: [ClosedRange<AttributeHandle>] = []
        /// Whether the services were registered at any time.
        var wasRegistered = false
        /// The handles that bluetoothd has reported in the current registration; `nil` if no registration
        /// runs.
        var given: [AttributeHandle: AttributeHandle]?
        /// The blocks that other programs use.
        var unavailable: Set<HandleBlock> = []
        /// The number of refusals in the current registration.
        var refusals = 0
    }

    private let services: BackendServices
    private var table: AttributeTable { services.table }
    /// Whether all handles are planned; if not, bluetoothd chooses the handles of services that are not
    /// pinned.
    private let hasPlan: Bool
    private let state: Mutex<State>
    /// The state before the current registration.
    private let former: Mutex<State?> = Mutex(nil)

    /// Creates the handles of services.
    init(for services: BackendServices) {
        self.services = services
        hasPlan = !services.preservedHandles.isEmpty
        state = Mutex(State(handles: services.preservedHandles, movable: services.newServices))
    }

    /// Records that the program has removed a service.
    func remove(_ service: Int) {
        state.withLock { _ = $0.removed.insert(service) }
    }

    /// The handles on the air of the services, as far as they are known.
    var occupied: [ClosedRange<AttributeHandle>] {
        state.withLock { state in
            present(state).compactMap { service in
                let start = state.handles[table.serviceRange(service).lowerBound]
                return table.pinnedRange(service) ?? start.flatMap { range(of: service, from: $0) }
            }
        }
    }

    /// The services that the program has not removed.
    private func present(_ state: State) -> [Int] {
        table.services.indices.filter { !state.removed.contains($0) }
    }

    /// Records a handle on the air for an attribute of the table.
    ///
    /// - Returns: Whether the handle is already valid. If not, it becomes valid when the registration
    ///   succeeds.
    func assign(_ onAir: AttributeHandle, to handle: AttributeHandle) -> Bool {
        state.withLock { state in
            guard state.given == nil else {
                state.given?[handle] = onAir
                return false
            }
            state.handles[handle] = onAir
            return true
        }
    }

    /// Returns the handle on the air; `nil` if bluetoothd has not reported it.
    func onAir(_ handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.given?[handle] ?? $0.handles[handle] }
    }

    /// The handle to request for an attribute; `nil` lets bluetoothd choose.
    subscript(handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.isPinned ? $0.handles[handle] : nil }
    }

    /// Requests the handles that were assigned before.
    func pin() {
        state.withLock { state in
            // The program requests either all handles of a service or no handle, because bluetoothd places
            // pinned attributes at their handles inside the service.
            var isAnyKnown = false
            for service in assignedServices(state) {
                let attributes = table.attributes(ofService: service)
                let isKnown = attributes.allSatisfy {
                    !$0.isReportedByDaemon || state.handles[$0.handle] != nil
                }
                isAnyKnown = isAnyKnown || isKnown
                guard !isKnown else { continue }
                for attribute in attributes { state.handles[attribute.handle] = nil }
            }
            state.isPinned = isAnyKnown
        }
    }

    /// The services in the order of their registration.
    ///
    /// Services without requested handles follow all other services, unless other services include them.
    /// Therefore bluetoothd never assigns a handle to a new service that another service requests.
    var order: [Int] { state.withLock { order($0) } }

    private func order(_ state: State) -> [Int] {
        let isPinned = table.services.indices.map { service in
            table.services[service].handle != nil || start(of: service, state) != nil
        }
        var order: [Int] = []
        var isAdded = isPinned.map { _ in false }
        func add(_ service: Int) {
            guard !isAdded[service], !state.removed.contains(service) else { return }
            isAdded[service] = true
            for included in table.services[service].includedServices { add(included) }
            order.append(service)
        }
        for service in table.services.indices where isPinned[service] { add(service) }
        for service in table.services.indices { add(service) }
        return order
    }

    /// The services that the program has not pinned.
    private func assignedServices(_ state: State) -> [Int] {
        present(state).filter { table.services[$0].handle == nil }
    }

    /// Returns the requested first handle of a service.
    private func start(of service: Int, _ state: State) -> AttributeHandle? {
        state.isPinned ? state.handles[table.serviceRange(service).lowerBound] : nil
    }
}

// MARK: - Registering

extension AssignedHandles {
    /// Begins a registration.
    ///
    /// - Parameters:
    ///   - others: The handles of the program's other services.
    ///   - foreign: The blocks of other programs, as far as they are known.
    func begin(
        besides others: [ClosedRange<AttributeHandle>] = [],
        avoiding foreign: Set<HandleBlock> = []
    ) {
        state.withLock { state in
            former.withLock { $0 = state }
            state.others = others
            (state.given, state.unavailable, state.refusals) = ([:], foreign, 0)
            guard hasPlan, state.isPinned, !moveMisplaced(&state) else { return }
            // The other programs may have ended.
            state.unavailable = []
            // Handles from a version without blocks may overlap the claims.
            if !moveMisplaced(&state) { state.isPinned = false }
        }
    }

    /// Records that bluetoothd has accepted the database.
    ///
    /// - Returns: All known handles.
    func succeed() -> [(handle: AttributeHandle, onAir: AttributeHandle)] {
        let handles = state.withLock { state in
            if !state.isPinned {
                for attribute in assignedServices(state).flatMap(table.attributes(ofService:)) {
                    state.handles[attribute.handle] = nil
                }
            }
            state.handles.merge(state.given ?? [:]) { $1 }
            state.given = nil
            state.movable = []
            state.wasRegistered = true
            return state.handles
        }
        return handles.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Records that the registration has failed, and restores the previous state.
    func fail() {
        state.withLock { state in
            guard var restored = former.withLock({ $0.take() }) else { return }
            restored.removed = state.removed
            state = restored
        }
    }

    /// Whether the program returns to handles that bluetoothd had chosen.
    var returns: Bool { !hasPlan && state.withLock(\.isPinned) }

    /// The requested ranges, including the ranges that the program has pinned.
    var demanded: [ClosedRange<AttributeHandle>] {
        state.withLock { state in present(state).compactMap { range(of: $0, state) } }
    }

    /// The ranges of ``demanded`` whose place the framework has chosen.
    var chosen: [ClosedRange<AttributeHandle>] {
        state.withLock { state in assignedServices(state).compactMap { range(of: $0, state) } }
    }

    /// The ranges of ``demanded`` that the program or the preserved state has chosen, not bluetoothd.
    var planned: [ClosedRange<AttributeHandle>] {
        guard !hasPlan else { return demanded }
        return state.withLock { present($0).compactMap(table.pinnedRange) }
    }

    /// Returns the first service in these blocks that cannot move because the program has pinned it.
    func pinnedService(in blocks: Set<HandleBlock>) -> ServiceDescription? {
        state.withLock { pinnedService(in: blocks, $0) }
    }

    private func pinnedService(in blocks: Set<HandleBlock>, _ state: State) -> ServiceDescription? {
        present(state).first { service in
            table.pinnedRange(service)?.touches(blocks) ?? false
        }
        .map { table.services[$0] }
    }

    /// Moves the services out of blocks that other programs use.
    ///
    /// Services that no central knows yet move together and keep their order. All other services stay.
    ///
    /// - Returns: Whether another attempt can succeed.
    func yield(_ blocks: Set<HandleBlock>) -> Bool {
        state.withLock { state in
            guard state.isPinned, pinnedService(in: blocks, state) == nil else { return false }
            state.unavailable.formUnion(blocks)
            guard !moveMisplaced(&state) else { return true }
            // Services that the program adds now stay below 0x0400, or are refused.
            guard !services.areAdded || state.wasRegistered else { return false }
            // As a last resort, bluetoothd chooses the place.
            state.isPinned = false
            return true
        }
    }

    /// Whether bluetoothd has chosen handles that the claims of other programs need.
    var isAmongClaims: Bool {
        state.withLock { state in
            assignedServices(state).contains { service in
                guard range(of: service, state) == nil,
                    let start = state.given?[table.serviceRange(service).lowerBound]
                else { return false }
                return range(of: service, from: start)?.overlaps(HandleBlock.claims) == true
            }
        }
    }

    /// Forgets the reported handles before the same request is repeated.
    func forgetGiven() {
        state.withLock { $0.given = [:] }
    }

    /// Moves a service that bluetoothd has refused, although its blocks belong to this program.
    ///
    /// bluetoothd reports the handles of the characteristics of accepted services before it refuses a later
    /// service. The refused service moves.
    ///
    /// - Parameter reportsHandles: Whether this version reports handles. If not, the refused service is
    ///   unknown, and all services move.
    /// - Returns: Whether another attempt can succeed.
    func yield(reportsHandles: Bool) -> Bool {
        let blocks: Set<HandleBlock>? = state.withLock { state in
            let refused = reportsHandles ? firstUnreported(state).map { [$0] } : nil
            state.given = [:]
            state.refusals += 1
            guard state.refusals <= Self.patience else { return nil }
            let ranges = (refused ?? assignedServices(state)).compactMap { range(of: $0, state) }
            return ranges.isEmpty ? nil : Set(ranges.flatMap(HandleBlock.touched))
        }
        if let blocks { return yield(blocks) }
        // As a last resort, bluetoothd chooses the place.
        return state.withLock { state in
            guard !services.areAdded || state.wasRegistered else { return false }
            defer { state.isPinned = false }
            return state.isPinned
        }
    }

    /// The number of refusals after which the registration fails.
    ///
    /// bluetoothd refuses a wrong declaration with the same error.
    private static let patience = 8

    /// Returns the first service without reported handles.
    private func firstUnreported(_ state: State) -> Int? {
        let order = order(state)
        let reported = Set((state.given ?? [:]).keys.compactMap { table[$0]?.kind.service })
        let next = order.lastIndex(where: reported.contains).map { $0 + 1 } ?? 0
        return order.indices.contains(next) ? order[next] : nil
    }

    /// Moves every service out of the unavailable blocks.
    ///
    /// - Returns: Whether there was room for all services.
    private func moveMisplaced(_ state: inout State) -> Bool {
        let demanded = assignedServices(state).compactMap { service in
            range(of: service, state).map { (service: service, range: $0) }
        }
        let misplaced = demanded.filter { service in
            service.range.touches(state.unavailable) || state.others.contains(where: service.range.overlaps)
        }
        guard !misplaced.isEmpty else { return true }
        if services.areAdded { return placeAgain(&state) }
        state.movable.formUnion(misplaced.map(\.service))
        let movable = demanded.filter { state.movable.contains($0.service) }
            .sorted { $0.range.lowerBound < $1.range.lowerBound }
        let kept =
            present(state).filter { !state.movable.contains($0) }.compactMap {
                range(of: $0, state)
            } + state.others
        let room = HandleRoom(around: kept, avoiding: state.unavailable)
        let sizes = movable.map { table.attributes(ofService: $0.service).count }
        guard let starts = room.starts(of: sizes, from: movable[0].range.lowerBound) else { return false }
        for (moved, start) in zip(movable, starts) { place(moved.service, at: start, &state) }
        return true
    }

    /// Moves services that were added during the run, by the same rules as when they were added.
    private func placeAgain(_ state: inout State) -> Bool {
        let unavailable = state.others + state.unavailable.map(\.handles) + [HandleBlock.claims]
        let present = assignedServices(state)
        let starts = services.starts(
            of: present,
            preferring: { state.handles[table.serviceRange($0).lowerBound] },
            besides: unavailable
        )
        guard let starts else { return false }
        for service in present {
            if let start = starts[service] { place(service, at: start, &state) }
        }
        return true
    }

    /// Returns the requested range of a service, or the range that the program has pinned.
    private func range(of service: Int, _ state: State) -> ClosedRange<AttributeHandle>? {
        if let pinned = table.pinnedRange(service) { return pinned }
        return start(of: service, state).flatMap { self.range(of: service, from: $0) }
    }

    private func range(
        of service: Int,
        from start: AttributeHandle
    ) -> ClosedRange<AttributeHandle>? {
        let range = table.serviceRange(service)
        let length = range.upperBound.rawValue - range.lowerBound.rawValue
        let (end, overflows) = start.rawValue.addingReportingOverflow(length)
        return overflows ? nil : start...AttributeHandle(rawValue: end)
    }

    private func place(_ service: Int, at start: AttributeHandle, _ state: inout State) {
        let former = table.serviceRange(service).lowerBound
        for attribute in table.attributes(ofService: service) where state.handles[attribute.handle] != nil {
            let offset = attribute.handle.rawValue - former.rawValue
            state.handles[attribute.handle] = AttributeHandle(rawValue: start.rawValue + offset)
        }
    }
}

extension AttributeTable.Attribute {
    /// Whether bluetoothd reports each handle that it assigns to an attribute of this kind.
    fileprivate var isReportedByDaemon: Bool {
        switch kind {
        case .serviceDeclaration, .characteristicValue: true
        default: false
        }
    }
}
