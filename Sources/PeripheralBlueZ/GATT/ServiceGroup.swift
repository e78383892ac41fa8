internal import PeripheralCore
internal import PeripheralKit

/// Services that are registered with bluetoothd as one application.
///
/// The group outlives the connection to the bus, so that the services return to their handles.
final class ServiceGroup: Sendable {
    /// The number of the group, which is unique in a run.
    let number: Int
    let services: BackendServices
    let handles: AssignedHandles

    init(_ number: Int, of services: BackendServices) {
        (self.number, self.services) = (number, services)
        handles = AssignedHandles(for: services)
    }

    var table: AttributeTable { services.table }

    /// Returns the index of the service that begins at a handle of the table.
    func index(of service: AttributeHandle) -> Int? {
        guard case .serviceDeclaration(let index) = table[service]?.kind else { return nil }
        return index
    }
}

extension BackendServices {
    /// Whether the program has added the services during the run.
    var areAdded: Bool { formerPlaces != nil }
}

/// The present services of each group, by the numbers of the groups.
///
/// The handles are the first handles of the services in their tables.
typealias GroupedServices = [Int: Set<AttributeHandle>]
