internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The services of one peripheral on an in-memory stack.
final class InMemoryServices: Sendable {
    /// Services that were added together.
    private struct Group {
        let application: ApplicationID
        let table: AttributeTable
        /// The present services, by their first handles in the table.
        var present: [AttributeHandle: ClosedRange<AttributeHandle>]
    }

    private let server: VirtualGATTServer
    private let provider: any VirtualAttributeProvider
    private let numbers: SubscriptionNumbers
    private let groups = Mutex<[Group]>([])
    private let hasEnded = Atomic(false)

    init(
        on server: VirtualGATTServer,
        servedBy provider: any VirtualAttributeProvider,
        numbers: SubscriptionNumbers
    ) {
        (self.server, self.provider, self.numbers) = (server, provider, numbers)
    }

    /// Adds services at their preferred handles, or else at free handles.
    func add(_ services: BackendServices) throws(AttributeTableError) {
        let table = services.table
        let authorized = table.handlesWithAuthorization
        let application: ApplicationID
        if services.formerPlaces != nil {
            application = try server.add(table, servedBy: provider, authorizing: authorized) {
                occupied throws(AttributeTableError) in
                let starts = services.starts(
                    of: services.preferredStarts.keys.sorted(),
                    preferring: { services.preferredStarts[$0] },
                    besides: occupied
                )
                guard let starts else { throw .noPlace(service: table.services[0].uuid, at: 0) }
                return starts
            }
        } else {
            let starts = services.preferredStarts
            do throws(AttributeTableError) {
                application = try server.add(table, servedBy: provider, authorizing: authorized) { _ in starts
                }
            } catch {
                guard !starts.isEmpty else { throw error }
                application = try server.add(table, servedBy: provider, authorizing: authorized)
            }
        }
        let ranges = table.services.indices.map { table.serviceRange($0) }
        let present = Dictionary(uniqueKeysWithValues: ranges.map { ($0.lowerBound, $0) })
        groups.withLock { $0.append(Group(application: application, table: table, present: present)) }
        // The run may have ended meanwhile.
        if hasEnded.load(ordering: .sequentiallyConsistent) { _ = removeGroups() }
    }

    /// Throws an error if the handles of a pinned service belong to the stack or to another peripheral.
    func examine(_ services: BackendServices) throws(AttributeTableError) {
        let table = services.table
        let occupied = server.occupiedHandles(besides: groups.withLock { $0.map(\.application) })
        for index in table.services.indices {
            guard let pinned = table.pinnedRange(index), occupied.contains(where: pinned.overlaps) else {
                continue
            }
            throw .handlesOccupied(pinned, service: table.services[index].uuid, at: index)
        }
    }

    /// Returns the handles of a service in its table; `nil` if it is not present.
    func handles(of service: AttributeHandle) -> ClosedRange<AttributeHandle>? {
        groups.withLock { groups in groups.lazy.compactMap { $0.present[service] }.first }
    }

    /// Removes a service.
    func remove(_ service: AttributeHandle) {
        let removed = groups.withLock { groups -> (Group, isLast: Bool)? in
            guard let index = groups.firstIndex(where: { $0.present[service] != nil }) else { return nil }
            let group = groups[index]
            groups[index].present[service] = nil
            let isLast = groups[index].present.isEmpty
            if isLast { groups.remove(at: index) }
            return (group, isLast)
        }
        guard let (group, isLast) = removed, let handles = group.present[service] else { return }
        server.removeServiceAtOnce(at: service, of: group.application)
        if isLast { server.removeAtOnce(group.application) }
        numbers.remove(handles)
    }

    /// Removes all services, and waits for the answers to all requests.
    func removeAll() async {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        let pending = removeGroups()
        await withTaskCancellationHandler {
            for task in pending { _ = await task.value }
        } onCancel: {
            for task in pending { task.cancel() }
        }
    }

    /// Removes all services, and returns the requests that are not answered yet.
    private func removeGroups() -> [Task<Result<[UInt8], ATTError>, Never>] {
        let removed = groups.withLock { groups in
            defer { groups = [] }
            return groups
        }
        return removed.flatMap { server.removeAtOnce($0.application) }
    }

    /// Returns the application of an attribute, and its table.
    func application(of handle: AttributeHandle) -> (ApplicationID, AttributeTable)? {
        groups.withLock { groups in
            groups.first { $0.present.values.contains { $0.contains(handle) } }.map {
                ($0.application, $0.table)
            }
        }
    }

    /// Reports the handles on the air of all attributes.
    func reportHandles(to host: any PeripheralHost) {
        for application in groups.withLock({ $0.map(\.application) }) {
            for (handle, onAir) in server.handles(of: application) {
                host.handle(.handleAssigned(handle, onAir: onAir))
            }
        }
    }
}

extension AttributeTable {
    /// The handles of the values whose writes the program has to authorize.
    fileprivate var handlesWithAuthorization: Set<AttributeHandle> {
        Set(
            attributes.filter { attribute in
                guard case .characteristicValue = attribute.kind else { return false }
                return characteristic(of: attribute.kind)?.requiresAuthorization ?? false
            }.map(\.handle)
        )
    }
}
