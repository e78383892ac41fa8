internal import PeripheralCore

/// Services to add to a running peripheral, with their places.
struct ServiceAddition {
    let declarations: [any GATTServiceDeclaration]
    /// The declaration with the added services.
    let declared: DeclaredState
    /// The added services alone.
    var services: BackendServices
    /// The warnings about the added services.
    let warnings: [DeclarationIssue]
    /// The persistent values that the services had at the end of an earlier run.
    let preservedValues: [AttributeHandle: [UInt8]]
    /// The places of removed services, without those of the added services.
    let formerPlaces: FormerPlaces

    /// The handles of each added service in the table.
    var ranges: [ClosedRange<AttributeHandle>] {
        services.table.services.indices.map(services.table.serviceRange)
    }

    /// Whether a service has handles that the Database Hash does not cover.
    var freezesDatabaseHash: Bool {
        services.preservedHandles.values.contains { Int($0.rawValue) >= FormerPlaces.endOfHash }
    }

    /// - Parameters:
    ///   - declarations: The services to add.
    ///   - present: The present declaration.
    ///   - occupied: The handles of the present services on the air.
    ///   - formerPlaces: The places of removed services.
    ///   - mayFreezeDatabaseHash: Whether the services may have handles from 0x0400 on.
    ///   - makeHandles: Chooses the first handles of the services in the table.
    /// - Throws: ``DeclarationError`` if the peripheral cannot have the services.
    init(
        of declarations: [any GATTServiceDeclaration],
        to present: DeclaredState,
        besides occupied: [ClosedRange<AttributeHandle>],
        formerPlaces: FormerPlaces,
        mayFreezeDatabaseHash: Bool,
        makeHandles: ([ServiceDescription]) -> [AttributeHandle]?
    ) throws(DeclarationError) {
        self.declarations = declarations
        let added = declarations.map(\.service)
        var peripheral = present.peripheral
        peripheral.services += added
        warnings = try Self.warnings(of: peripheral, adding: added, to: present.peripheral)
        // The group includes only its own services, so the positions of included services are those in it.
        var group = present.peripheral
        group.services = added
        let descriptions = group.serviceDescriptions
        let starts = makeHandles(descriptions)
        var places = formerPlaces
        var preservedValues: [AttributeHandle: [UInt8]] = [:]
        let count = present.table.services.count
        do throws(AttributeTableError) {
            guard let starts else { throw .handlesExhausted(service: added.first?.uuid ?? 0, at: 0) }
            var all: [Int: AttributeHandle] = [:]
            for index in 0..<count { all[index] = present.table.serviceRange(index).lowerBound }
            for (index, start) in starts.enumerated() { all[count + index] = start }
            let table = try AttributeTable(services: peripheral.serviceDescriptions, starts: all)
            declared = DeclaredState(peripheral, table: table)
            let own = Dictionary(uniqueKeysWithValues: starts.enumerated().map { ($0, $1) })
            let ownTable = try AttributeTable(services: descriptions, starts: own)
            services = BackendServices(
                table: ownTable,
                userDescriptions: ownTable.userDescriptions(of: added),
                maximumLengths: ownTable.maximumLengths(of: added),
                preservedHandles: try Self.places(
                    of: ownTable,
                    declared,
                    from: count,
                    besides: occupied,
                    formerPlaces,
                    mayFreezeDatabaseHash
                ),
                newServices: Set(added.indices),
                formerPlaces: formerPlaces,
                mayFreezeDatabaseHash: mayFreezeDatabaseHash
            )
        } catch {
            throw DeclarationError(issues: [DeclarationIssue(error)])
        }
        for index in count..<declared.table.services.count {
            let values = places.returned(declared.placed(index))
            for (position, attribute) in declared.table.attributes(ofService: index).enumerated() {
                guard let value = values[position],
                    declared.persistentValues[attribute.handle]?.accepts(value) == true
                else { continue }
                preservedValues[attribute.handle] = value
            }
        }
        self.preservedValues = preservedValues
        self.formerPlaces = places
    }

    /// Examines the services together with the present services.
    private static func warnings(
        of peripheral: Peripheral,
        adding added: [GATTService],
        to present: Peripheral
    ) throws(DeclarationError) -> [DeclarationIssue] {
        var issues = DeclarationValidation(ofServicesOf: peripheral).issues
        // What the present services lack was reported before.
        for known in DeclarationValidation(ofServicesOf: present).issues {
            if let index = issues.firstIndex(of: known) { issues.remove(at: index) }
        }
        for (index, service) in added.enumerated()
        where (present.services + added[..<index]).contains(where: { $0.identity == service.identity }) {
            issues.append(
                DeclarationIssue(
                    severity: .error,
                    element: "service \(service.uuid)",
                    reason: "it is present already",
                    remedy: "declare another service, or remove the present one first"
                )
            )
        }
        for service in added {
            for included in service.includes
            where !added.contains(where: { $0.identity == included.identity }) {
                issues.append(
                    DeclarationIssue(
                        severity: .error,
                        element: "service \(service.uuid)",
                        reason: "it includes service \(included.uuid), which is not added in the same call",
                        remedy: "add both services in one call"
                    )
                )
            }
        }
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        return issues
    }

    /// Chooses the handles on the air of the services that are not pinned.
    private static func places(
        of table: AttributeTable,
        _ declared: DeclaredState,
        from count: Int,
        besides occupied: [ClosedRange<AttributeHandle>],
        _ formerPlaces: FormerPlaces,
        _ mayFreezeDatabaseHash: Bool
    ) throws(AttributeTableError) -> [AttributeHandle: AttributeHandle] {
        var occupied = occupied
        for index in table.services.indices {
            guard let pinned = table.pinnedRange(index) else { continue }
            let uuid = table.services[index].uuid
            guard !occupied.contains(where: pinned.overlaps) else {
                throw .handlesOccupied(pinned, service: uuid, at: index)
            }
            occupied.append(pinned)
        }
        var handles: [AttributeHandle: AttributeHandle] = [:]
        for index in table.services.indices where table.services[index].handle == nil {
            let place = formerPlaces.place(
                for: declared.placed(count + index),
                besides: occupied,
                mayFreezeDatabaseHash: mayFreezeDatabaseHash
            )
            guard let place else { throw .noPlace(service: table.services[index].uuid, at: index) }
            let range = table.serviceRange(index)
            if let last = place.advanced(by: range.upperBound.offset(from: range.lowerBound)) {
                occupied.append(place...last)
            }
            for attribute in table.attributes(ofService: index) where attribute.hasReportedHandle {
                handles[attribute.handle] = place.advanced(
                    by: attribute.handle.offset(from: range.lowerBound)
                )
            }
        }
        return handles
    }
}

extension AttributeTable.Attribute {
    /// Whether backends report the handle of the attribute on the air.
    var hasReportedHandle: Bool {
        switch kind {
        case .serviceDeclaration, .characteristicValue, .descriptor: true
        default: false
        }
    }
}
