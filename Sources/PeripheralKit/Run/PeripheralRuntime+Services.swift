internal import Logging
internal import PeripheralCore
internal import Synchronization

/// Services that the program adds and removes.
extension PeripheralRuntime {
    /// The handles on the air of the present services, as far as they are known.
    private func handlesOnAir(besides removed: Set<Int> = []) -> [ClosedRange<AttributeHandle>] {
        let table = declaration.declared.table
        return table.services.indices.compactMap { index in
            guard !removed.contains(index) else { return nil }
            if let pinned = table.pinnedRange(index) { return pinned }
            let range = table.serviceRange(index)
            guard let start = handleOnAir(range.lowerBound),
                let last = start.advanced(by: range.upperBound.offset(from: range.lowerBound))
            else { return nil }
            return start...last
        }
    }

    /// Plans the addition of services, which changes nothing yet.
    ///
    /// - Throws: ``DeclarationError`` if the peripheral cannot have the services.
    private func addition(
        of declarations: [any GATTServiceDeclaration],
        without removed: Set<Int> = [],
        _ mayFreezeDatabaseHash: Bool
    ) throws(DeclarationError) -> ServiceAddition {
        let present = declaration.declared.without(removed)
        var places = services.state.withLock(\.formerPlaces)
        for service in removed.sorted() { note(service, in: &places) }
        return try ServiceAddition(
            of: declarations,
            to: present,
            besides: handlesOnAir(besides: removed),
            formerPlaces: places,
            mayFreezeDatabaseHash: mayFreezeDatabaseHash
        ) { descriptions in
            services.makeHandles(
                for: descriptions,
                besides: present.table.services.indices.map(present.table.serviceRange)
            )
        }
    }

    /// Records the place of a present service that is removed.
    private func note(_ service: Int, in places: inout FormerPlaces) {
        let declared = declaration.declared
        let table = declared.table
        let pinned = table.services[service].handle
        guard let start = pinned ?? handleOnAir(table.serviceRange(service).lowerBound) else { return }
        places.removed(declared.placed(service), from: start)
    }

    /// Returns the positions of services that are about to be removed.
    ///
    /// - Throws: ``PeripheralError`` with the code `notDeclared`, or ``DeclarationError`` if the other
    ///   services need them.
    private func indices(of removed: [GATTService]) throws -> Set<Int> {
        let declared = declaration.declared
        var indices: Set<Int> = []
        for service in removed {
            guard let index = declared.index(of: service) else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "Service \(service.uuid) is not part of this peripheral. "
                        + "Use the constant from its declaration."
                )
            }
            indices.insert(index)
        }
        let remaining = declared.without(indices).peripheral
        try examineIncludes(of: remaining.services, without: removed)
        let known = DeclarationValidation(ofServicesOf: declared.peripheral).issues
        let errors = DeclarationValidation(ofServicesOf: remaining).issues.filter {
            $0.severity == .error && !known.contains($0)
        }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        return indices
    }

    private func examineIncludes(
        of remaining: [GATTService],
        without removed: [GATTService]
    ) throws(DeclarationError) {
        for service in remaining {
            for included in service.includes
            where removed.contains(where: { $0.identity == included.identity }) {
                throw DeclarationError(issues: [
                    DeclarationIssue(
                        severity: .error,
                        element: "service \(included.uuid)",
                        reason: "service \(service.uuid) includes it",
                        remedy: "remove both services in one call"
                    )
                ])
            }
        }
    }

    // MARK: Changes

    func add(_ elements: [PeripheralElement], mayFreezeDatabaseHash: Bool) async throws {
        let declarations = try elements.services()
        try await services.inTurn { [self] in
            try await register(addition(of: declarations, mayFreezeDatabaseHash))
        }
    }

    func remove(_ removed: [GATTService]) async throws {
        try await services.inTurn { [self] in
            try await withdraw(indices(of: removed))
        }
    }

    /// Replaces services by others.
    ///
    /// The new services are added first, so that a refusal changes nothing. If that is impossible, for
    /// example because they have the same handles, the earlier services are removed first, and return after a
    /// refusal.
    func replace(
        _ removed: [GATTService],
        with elements: [PeripheralElement],
        mayFreezeDatabaseHash: Bool
    ) async throws {
        let declarations = try elements.services()
        try await services.inTurn { [self] in
            let indices = try indices(of: removed)
            var first = try? addition(of: declarations, false)
            if first == nil, (try? addition(of: declarations, without: indices, false)) == nil {
                // Without the earlier services, there are not enough handles below 0x0400 either.
                first = try? addition(of: declarations, mayFreezeDatabaseHash)
            }
            if let first {
                try await register(first)
                return try await withdraw(indices)
            }
            // All of these throw before anything changes.
            let later = try addition(of: declarations, without: indices, mayFreezeDatabaseHash)
            try services.link().examine(later.services)
            let former = services.declarations(of: removed)
            _ = try addition(of: former, without: indices, true)
            let values = persistentValues(of: indices)
            try await withdraw(indices)
            do {
                try await register(addition(of: declarations, mayFreezeDatabaseHash), continuing: values)
            } catch {
                var addition = try addition(of: former, true)
                addition.services.areReturning = true
                try await register(addition, continuing: values)
                throw error
            }
        }
    }

    /// Registers services, which centrals can use from then on.
    ///
    /// - Parameters:
    ///   - addition: The services.
    ///   - values: Persistent values that the services continue with.
    /// - Throws: The error of the backend. Then nothing has changed.
    private func register(
        _ addition: ServiceAddition,
        continuing values: [CharacteristicIdentity: [UInt8]] = [:]
    ) async throws {
        guard !addition.declarations.isEmpty else { return }
        let link = try services.link()
        let former = declaration.declared
        // Requests can arrive before the backend has returned.
        declaration.declared = addition.declared
        let own = addition.declared.attributes(in: addition.ranges)
        let values = addition.preservedValues.merging(addition.declared.values(values)) { $1 }
        persistentValues.add(own.persistentValues, values: values)
        server.declarationChanged()
        updates.add(own.updatePolicies)
        preservation?.servicesChanged(to: addition.declared, with: values)
        // While the peripheral is off the air, no backend reports the handles of the services.
        for handle in addition.ranges.map(\.lowerBound) {
            if let place = addition.services.preservedHandles[handle] {
                server.handlesOnAir.assign(place, to: handle)
            }
        }
        do {
            try await link.add(addition.services)
        } catch {
            for range in addition.ranges { forget(range) }
            declaration.declared = former
            server.declarationChanged()
            preservation?.servicesChanged(to: former)
            throw error
        }
        for warning in addition.warnings {
            logger.warning("\(warning.message)", metadata: ["peripheral.name": "\(publication.name)"])
        }
        added(addition)
        await advertiseServices()
    }

    /// The persistent values of services.
    private func persistentValues(of services: Set<Int>) -> [CharacteristicIdentity: [UInt8]] {
        let declared = declaration.declared
        let ranges = services.map(declared.table.serviceRange)
        return declared.valueHandles.compactMapValues { handle in
            ranges.contains { $0.contains(handle) } ? persistentValues[handle] : nil
        }
    }

    /// Logs once in a run that services have high handles.
    ///
    /// Without a restoration identifier, bluetoothd chooses the handles, and each start of a program uses
    /// higher ones.
    func reportFrozenHash() {
        let isFirst = services.state.withLock { state in
            defer { state.hasReportedFrozenHash = true }
            return !state.hasReportedFrozenHash
        }
        guard isFirst else { return }
        let remedy =
            preservation == nil
            ? " To use the same handles in each run, declare a restoration identifier." : ""
        logger.warning(
            """
            Services have handles from 0x0400 on. BlueZ no longer updates the Database Hash for any program, \
            until bluetoothd restarts. Centrals that trust the hash keep old services.\(remedy)
            """
        )
    }

    private func added(_ addition: ServiceAddition) {
        services.state.withLock { state in
            state.formerPlaces = addition.formerPlaces
            for range in handlesOnAir() { state.formerPlaces.taken(range) }
        }
        preservation?.placesChanged(to: services.state.withLock(\.formerPlaces))
        if addition.freezesDatabaseHash { reportFrozenHash() }
        services.begin(addition.declarations, in: self)
    }

    /// Removes services after their work, requests and updates have ended.
    private func withdraw(_ indices: Set<Int>) async throws {
        guard !indices.isEmpty else { return }
        let link = try services.link()
        let declared = declaration.declared
        let removed = indices.sorted().map { declared.peripheral.services[$0] }
        let ranges = indices.sorted().map(declared.table.serviceRange)
        await services.end(removed)
        for range in ranges {
            server.close(range)
            updates.close(range)
            procedures.cancel(of: range)
        }
        for range in ranges { await tasks.untilAnswered(of: range) }
        try await link.remove(ranges.map(\.lowerBound))
        var places = services.state.withLock(\.formerPlaces)
        for index in indices.sorted() { note(index, in: &places) }
        services.state.withLock { $0.formerPlaces = places }
        for range in ranges { forget(range) }
        declaration.declared = declared.without(indices)
        server.declarationChanged()
        preservation?.servicesChanged(to: declaration.declared)
        preservation?.placesChanged(to: places)
        await advertiseServices()
    }

    /// Ends everything that concerns the attributes of a service.
    private func forget(_ range: ClosedRange<AttributeHandle>) {
        note { $0.removed(range) }
        var removed = updates.remove(range)
        for (characteristic, number) in preservation?.waitingUpdates(of: range) ?? [:] {
            var counters = UpdateCounters()
            counters.dropped = number
            removed.append((characteristic, counters))
        }
        for (characteristic, counters) in removed {
            if let uuid = declaration.subscribable(characteristic)?.uuid {
                services.count(counters, of: uuid)
            }
        }
        persistentValues.remove(range)
        server.removed(range)
    }

    /// Changes the advertisements that are derived from the services.
    private func advertiseServices() async {
        do {
            try await advertising.servicesChanged(to: declaration.declared.peripheral)
        } catch let error where error.isConsequenceOfEnd {
            // Nothing is advertised any more.
        } catch {
            logger.warning(
                "The advertisements still name the earlier services, because the new advertisements were refused.",
                metadata: ["peripheral.reason": "\(error)"]
            )
        }
    }
}

extension [PeripheralElement] {
    /// Returns the services.
    ///
    /// - Throws: ``DeclarationError`` if there is another element.
    fileprivate func services() throws(DeclarationError) -> [any GATTServiceDeclaration] {
        var services: [any GATTServiceDeclaration] = []
        for element in self {
            let (name, remedy): (String, String)
            switch element.part {
            case .service(let service):
                services.append(service)
                continue
            case .advertisement:
                (name, remedy) = ("advertisement", "change the advertisements with advertise(_:)")
            case .listener: (name, remedy) = ("L2CAP listener", "declare the L2CAPListener in the Peripheral")
            }
            let issue = DeclarationIssue(
                severity: .error,
                element: name,
                reason: "only services can be added here",
                remedy: remedy
            )
            throw DeclarationError(issues: [issue])
        }
        return services
    }
}

extension DeclaredState {
    /// The declaration without some services.
    ///
    /// The other services keep their handles in the table.
    func without(_ removed: Set<Int>) -> DeclaredState {
        guard !removed.isEmpty else { return self }
        let kept = table.services.indices.filter { !removed.contains($0) }
        var peripheral = self.peripheral
        peripheral.services = kept.map { self.peripheral.services[$0] }
        let starts = kept.enumerated().map { ($0, table.serviceRange($1).lowerBound) }
        let remaining = try? AttributeTable(
            services: peripheral.serviceDescriptions,
            starts: Dictionary(uniqueKeysWithValues: starts)
        )
        // A part of a table is always a table.
        return remaining.map { DeclaredState(peripheral, table: $0) } ?? self
    }

    /// Returns values by the handles of their characteristics.
    fileprivate func values(_ values: [CharacteristicIdentity: [UInt8]]) -> [AttributeHandle: [UInt8]] {
        values.reduce(into: [:]) { byHandle, entry in
            guard let handle = valueHandles[entry.key], persistentValues[handle]?.accepts(entry.value) == true
            else { return }
            byHandle[handle] = entry.value
        }
    }

    /// The parts of the declaration that concern some attributes.
    func attributes(
        in ranges: [ClosedRange<AttributeHandle>]
    ) -> (
        persistentValues: [AttributeHandle: PersistentValueDeclaration],
        updatePolicies: [AttributeHandle: UpdatePolicy]
    ) {
        func isMeant(_ handle: AttributeHandle) -> Bool { ranges.contains { $0.contains(handle) } }
        return (
            persistentValues.filter { isMeant($0.key) }.mapValues(\.declaration),
            updatePolicies.filter { isMeant($0.key) }
        )
    }
}
