internal import Logging
internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The services that the program wants, and its changes of them, one at a time.
final class WantedServices: Sendable {
    private struct State {
        var groups: [Int: ServiceGroup] = [:]
        var present: GroupedServices = [:]
        var nextNumber = 0
        /// The version of the running bluetoothd, if it is known.
        var version: BlueZVersion?
    }

    let change = PendingChange()
    private let publication: BackendPublication
    private let log: RunLog
    private let state = Mutex(State())

    /// Begins with the services at the start of a run.
    init(_ publication: BackendPublication, log: RunLog) {
        (self.publication, self.log) = (publication, log)
        _ = insert(publication.services)
    }

    var present: GroupedServices { state.withLock(\.present) }

    /// The groups with present services, in the order in which they were added.
    var groups: [ServiceGroup] {
        state.withLock { state in
            state.groups.values.filter { state.present[$0.number] != nil }.inOrder { $0.number < $1.number }
        }
    }

    subscript(number: Int) -> ServiceGroup? { state.withLock { $0.groups[number] } }

    func setVersion(_ version: BlueZVersion) {
        state.withLock { $0.version = version }
    }

    /// The handles on the air of the services of other groups, as far as they are known.
    func occupied(besides group: ServiceGroup) -> [ClosedRange<AttributeHandle>] {
        groups.filter { $0.number != group.number }.flatMap(\.handles.occupied)
    }

    /// Adds services, and waits until they are registered.
    ///
    /// - Parameters:
    ///   - services: The services.
    ///   - send: Passes on the request.
    /// - Throws: `DeclarationError` if the running version does not support the services. In that case, the
    ///   request is not passed on. Otherwise the error of the change.
    func add(_ services: BackendServices, _ send: (GroupedServices, Set<Int>) -> Void) async throws {
        try examine(services)
        let number = insert(services)
        self[number]?.handles.pin()
        do {
            try await change.make { send(present, services.areReturning ? [number] : []) }
        } catch {
            state.withLock { state in
                state.groups[number] = nil
                state.present[number] = nil
            }
            throw error
        }
    }

    /// Removes services, and waits until they are withdrawn.
    ///
    /// - Parameters:
    ///   - services: The first handles of the services in their tables.
    ///   - send: Passes on the request.
    /// - Throws: The error of the change.
    func remove(_ services: [AttributeHandle], _ send: (GroupedServices, Set<Int>) -> Void) async throws {
        let present = state.withLock { state in
            for (number, group) in state.groups {
                for service in services where state.present[number]?.remove(service) != nil {
                    if let index = group.index(of: service) { group.handles.remove(index) }
                }
                if state.present[number]?.isEmpty == true { state.present[number] = nil }
            }
            return state.present
        }
        try await change.make { send(present, []) }
        state.withLock { state in state.groups = state.groups.filter { state.present[$0.key] != nil } }
    }

    private func insert(_ services: BackendServices) -> Int {
        state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.groups[number] = ServiceGroup(number, of: services)
            let starts = services.table.services.indices.map { services.table.serviceRange($0).lowerBound }
            state.present[number] = Set(starts)
            return number
        }
    }

    /// Throws `DeclarationError` if the running version does not support the services.
    func examine(_ services: BackendServices) throws {
        guard let version = state.withLock(\.version) else { return }
        let issues = BlueZRules(version).examine(publication.with(services))
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        for warning in issues { log.report(.declaration(warning), .warning, "\(warning.message)") }
    }
}
