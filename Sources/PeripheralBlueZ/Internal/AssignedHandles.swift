internal import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// The handles that the database has on the air, so that it has the same when it is registered again: by this program, or by
/// the one that ran before it.
///
/// A central keeps what it has found, by handle; one that it has bonded with, for good.
final class AssignedHandles: Sendable {
    private struct State {
        /// What to demand when ``isPinned``; what bluetoothd has given otherwise.
        var handles: [AttributeHandle: AttributeHandle]
        var isPinned = false
        /// The services that may go elsewhere without a central noticing.
        var movable: Set<Int>
        /// What bluetoothd has told of a registration that has not ended; `nil` when there is none.
        var given: [AttributeHandle: AttributeHandle]?
        /// Those services in a row that were refused where they were demanded.
        var refused: [Int?] = []
    }

    private let table: AttributeTable
    private let state: Mutex<State>
    /// As it was before the registration that has not ended.
    private let former: Mutex<State?> = Mutex(nil)

    /// - Parameters:
    ///   - table: The database.
    ///   - preserved: The handles that it is to have.
    ///   - newServices: The services that nobody has found yet.
    init(
        for table: AttributeTable,
        preserved: [AttributeHandle: AttributeHandle] = [:],
        newServices: Set<Int> = []
    ) {
        self.table = table
        state = Mutex(State(handles: preserved, movable: newServices))
    }

    /// Takes note of a handle on the air, for one in the table.
    ///
    /// - Returns: Whether it holds already, and not only when the registration succeeds.
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

    /// The handle on the air; `nil` when bluetoothd has not told it.
    func onAir(_ handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.given?[handle] ?? $0.handles[handle] }
    }

    /// What to demand for an attribute; `nil` leaves it to bluetoothd.
    subscript(handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.isPinned ? $0.handles[handle] : nil }
    }

    /// Demands what was given before.
    func pin() {
        state.withLock { state in
            // All of a service or nothing: bluetoothd puts what is pinned inside of it where it says.
            var isAnyKnown = false
            for service in assignedServices {
                let attributes = table.attributes(ofService: service)
                let isKnown = attributes.allSatisfy { !$0.isToldByDaemon || state.handles[$0.handle] != nil }
                isAnyKnown = isAnyKnown || isKnown
                guard !isKnown else { continue }
                for attribute in attributes { state.handles[attribute.handle] = nil }
            }
            state.isPinned = isAnyKnown
        }
    }

    /// The services in the order in which to register them: those without handles of their own behind all that have some,
    /// unless they are included by these.
    ///
    /// So bluetoothd gives no new service a handle at which another is to stand.
    var order: [Int] { state.withLock { order($0) } }

    private func order(_ state: State) -> [Int] {
        let isPinned = table.services.indices.map { service in
            table.services[service].handle != nil || start(of: service, state) != nil
        }
        var order: [Int] = []
        var isAdded = isPinned.map { _ in false }
        func add(_ service: Int) {
            guard !isAdded[service] else { return }
            isAdded[service] = true
            for included in table.services[service].includedServices { add(included) }
            order.append(service)
        }
        for service in table.services.indices where isPinned[service] { add(service) }
        for service in table.services.indices { add(service) }
        return order
    }

    /// The services that the program has not pinned itself.
    private var assignedServices: [Int] {
        table.services.indices.filter { table.services[$0].handle == nil }
    }

    /// Where a service is demanded to begin.
    private func start(of service: Int, _ state: State) -> AttributeHandle? {
        state.isPinned ? state.handles[table.serviceRange(service).lowerBound] : nil
    }
}

// MARK: - Registering

extension AssignedHandles {
    /// A registration begins.
    func begin() {
        state.withLock { state in
            former.withLock { $0 = state }
            (state.given, state.refused) = ([:], [])
        }
    }

    /// bluetoothd has taken the database.
    ///
    /// - Returns: All that is known now.
    func succeed() -> [(handle: AttributeHandle, onAir: AttributeHandle)] {
        let handles = state.withLock { state in
            if !state.isPinned {
                for attribute in assignedServices.flatMap(table.attributes(ofService:)) {
                    state.handles[attribute.handle] = nil
                }
            }
            state.handles.merge(state.given ?? [:]) { $1 }
            state.given = nil
            state.movable = []
            return state.handles
        }
        return handles.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// It has not: what was to be demanded before still is.
    func fail() {
        state.withLock { state in
            if let former = former.withLock({ $0.take() }) { state = former }
        }
    }

    /// bluetoothd has no room where a service is demanded: something else stands there.
    ///
    /// Of a service that is taken, bluetoothd tells the handles of the characteristics before it refuses a later one. The one
    /// that it has refused goes elsewhere, together with those that nobody knows yet; all others stay.
    ///
    /// - Parameter tellsHandles: Whether this version does so; otherwise nobody knows which is refused, and all go.
    /// - Returns: Whether it is worth another attempt.
    func yield(tellsHandles: Bool) -> Bool {
        state.withLock { state in
            guard state.isPinned else { return false }
            let refused = tellsHandles ? firstUntold(state) : nil
            if let refused, table.services[refused].handle != nil { return false }
            state.given = [:]
            if state.refused.last != .some(refused) { state.refused = [] }
            state.refused.append(refused)
            let isMoved = state.refused.count <= Self.patience && move(refused, &state)
            // The last resort: bluetoothd knows where there is room.
            if !isMoved { state.isPinned = false }
            return true
        }
    }

    /// How often the same service is moved further, each time by twice as much.
    private static let patience = 8

    /// What is moved begins at a multiple of this.
    private static let step = 0x40

    /// The first service that nothing is told of.
    private func firstUntold(_ state: State) -> Int? {
        let order = order(state)
        let told = Set((state.given ?? [:]).keys.compactMap { table[$0]?.kind.service })
        let next = order.lastIndex(where: told.contains).map { $0 + 1 } ?? 0
        return order.indices.contains(next) ? order[next] : nil
    }

    private func move(_ refused: Int?, _ state: inout State) -> Bool {
        let demanded = assignedServices.filter { start(of: $0, state) != nil }
        if let refused, !demanded.contains(refused) { return false }
        state.movable.formUnion(refused.map { [$0] } ?? demanded)
        let movable = demanded.filter(state.movable.contains).sorted { first, second in
            (start(of: first, state) ?? 0) < (start(of: second, state) ?? 0)
        }
        guard let start = start(of: refused ?? movable[0], state) else { return false }
        let kept = table.services.indices.filter { !movable.contains($0) }.compactMap { range(of: $0, state) }
        let further =
            (Int(start.rawValue) + 1).rounded(upTo: Self.step) + (Self.step << (state.refused.count - 1))
        let behind = kept.map { Int($0.upperBound.rawValue) + 1 + Publication.handleGap }.max() ?? 0
        var next = max(further - Self.step, behind.rounded(upTo: Self.step))
        for service in movable {
            let size = table.attributes(ofService: service).count
            guard let start = UInt16(exactly: next), UInt16(exactly: next + size - 1) != nil else {
                return false
            }
            place(service, at: AttributeHandle(rawValue: start), &state)
            next += size + Publication.handleGap
        }
        return true
    }

    /// Where a service is demanded to stand, or pinned by the program.
    private func range(of service: Int, _ state: State) -> ClosedRange<AttributeHandle>? {
        let range = table.serviceRange(service)
        guard table.services[service].handle == nil else { return range }
        guard let start = start(of: service, state) else { return nil }
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

extension Int {
    fileprivate func rounded(upTo step: Int) -> Int { (self + step - 1) / step * step }
}

extension AttributeTable.Attribute {
    /// Whether bluetoothd tells the handle of each attribute of this kind that it has given one.
    fileprivate var isToldByDaemon: Bool {
        switch kind {
        case .serviceDeclaration, .characteristicValue: true
        default: false
        }
    }
}
