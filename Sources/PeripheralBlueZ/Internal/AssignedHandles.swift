internal import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// The handles that bluetoothd has given to the database, so that it has the same when it is registered again: by this
/// program, or by the one that ran before it.
///
/// A central keeps what it has found, by handle; one that it has bonded with, for good.
final class AssignedHandles: Sendable {
    private struct State {
        var handles: [AttributeHandle: AttributeHandle] = [:]
        var isPinned = false
    }

    private let table: AttributeTable
    private let state: Mutex<State>

    /// - Parameters:
    ///   - table: The database.
    ///   - preserved: The handles that it had in the program that ran before.
    init(for table: AttributeTable, preserved: [AttributeHandle: AttributeHandle] = [:]) {
        self.table = table
        state = Mutex(State(handles: preserved))
    }

    /// Takes note of a handle on the air, for one in the table.
    func assign(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        state.withLock { $0.handles[handle] = onAir }
    }

    /// The handle on the air; `nil` when bluetoothd has not told it.
    func onAir(_ handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.handles[handle] }
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
    var order: [Int] {
        let isPinned = state.withLock { state in
            table.services.indices.map { service in
                table.services[service].handle != nil
                    || state.isPinned && state.handles[table.serviceRange(service).lowerBound] != nil
            }
        }
        var order: [Int] = []
        func add(_ service: Int) {
            guard !order.contains(service) else { return }
            for included in table.services[service].includedServices { add(included) }
            order.append(service)
        }
        for service in table.services.indices where isPinned[service] { add(service) }
        for service in table.services.indices { add(service) }
        return order
    }

    /// What is demanded, of which bluetoothd tells nothing.
    var pinned: [(handle: AttributeHandle, onAir: AttributeHandle)] {
        let handles = state.withLock { $0.isPinned ? $0.handles : [:] }
        return handles.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Leaves the handles to bluetoothd, which may have given them to another program by now.
    ///
    /// - Returns: Whether they were pinned.
    func unpin() -> Bool {
        state.withLock { state in
            guard state.isPinned else { return false }
            for attribute in assignedServices.flatMap(table.attributes(ofService:)) {
                state.handles[attribute.handle] = nil
            }
            state.isPinned = false
            return true
        }
    }

    /// The services that the program has not pinned itself.
    private var assignedServices: [Int] {
        table.services.indices.filter { table.services[$0].handle == nil }
    }
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
