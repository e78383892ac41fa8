public import PeripheralCore

/// What is preserved under a restoration identifier: a peripheral that lacks nothing but its handlers.
///
/// A program that does not know by itself what it had published declares it anew from this:
///
/// ```swift
/// let store = try StateDirectory()
/// for identifier in try await store.identifiers() {
///     guard let door = try await PreservedPeripheral(identifier, in: store) else { continue }
///     let isLocked = try door.characteristic("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", as: Bool.self) {
///         PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
///     }
///     let peripheral = Peripheral(restoring: door, pairing: .justWorks) { isLocked }
///     try await peripheral.run(on: .bluez, restoringFrom: store) { session in … }
/// }
/// ```
public struct PreservedPeripheral: Sendable {
    /// The restoration identifier.
    public let identifier: String

    let state: PreservedState

    /// The name.
    public var name: String { state.name }

    /// The services, in their order, with all that they consist of.
    public var services: [ServiceDescription] { state.database.table.services }

    /// What was advertised.
    public var advertisements: [Advertisement] { state.advertisements }

    /// Reads what is preserved under an identifier, and leaves it as it is.
    ///
    /// - Parameters:
    ///   - identifier: The identifier; `nil` is the outcome when nothing is preserved under it.
    ///   - store: Where it is preserved.
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/inUse`` while a peripheral runs with it, or with the
    ///   reason why it cannot be read.
    public init?(
        _ identifier: String,
        in store: some RestorationStore
    ) async throws(RestorationError) {
        let record = try await store.open(identifier)
        let found: PreservedState?
        do throws(RestorationError) {
            if let document = try await record.load() {
                found = try PreservedState(decoding: document)
            } else {
                found = nil
            }
        } catch {
            await record.close()
            throw error
        }
        await record.close()
        guard let found else { return nil }
        self.identifier = identifier
        state = found
    }

    /// A characteristic as it was, with handlers.
    ///
    /// It has the properties, the security, the length, the policy for updates, and the constant descriptors that it had.
    ///
    /// - Parameters:
    ///   - uuid: Its type; of several, the first is meant.
    ///   - type: The type of its value.
    ///   - content: Its ``Read`` and ``Write``, its ``PersistentValue``, its ``Authorization``, and the descriptors whose values
    ///     change.
    /// - Returns: The characteristic, to be handed to ``Peripheral/init(restoring:pairing:handling:onRestore:)``.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there was none.
    public func characteristic<Value>(
        _ uuid: BluetoothUUID,
        as type: Value.Type = Value.self,
        @CharacteristicBuilder<Value> _ content: () -> [CharacteristicElement<Value>]
    ) throws(PeripheralError) -> Characteristic<Value> {
        let table = state.database.table
        let attribute = table.attributes.first { attribute in
            guard case .characteristicValue = attribute.kind else { return false }
            return attribute.type == uuid
        }
        guard let attribute, let declaration = declaration(of: attribute, content().map(\.part)) else {
            throw PeripheralError(
                code: .notDeclared,
                message:
                    "The peripheral that is preserved as \"\(identifier)\" has no characteristic \(uuid)."
            )
        }
        return Characteristic(declaration: declaration)
    }

    /// The services, with the characteristics that are given in the place of those of the same types.
    func declaration(with given: [CharacteristicDeclaration]) -> [GATTService] {
        let table = state.database.table
        var waiting = given
        var services: [GATTService] = []
        for (index, service) in table.services.enumerated() {
            var characteristics: [ServiceElement] = []
            for attribute in table.attributes(ofService: index) {
                guard case .characteristicValue = attribute.kind else { continue }
                if let place = waiting.firstIndex(where: { $0.uuid == attribute.type }) {
                    characteristics.append(ServiceElement(characteristic: waiting.remove(at: place)))
                } else if let declaration = declaration(of: attribute, kept(attribute.handle)) {
                    characteristics.append(ServiceElement(characteristic: declaration))
                }
            }
            let includes = service.includedServices.map { services[$0] }
            // No closure, which a builder would take apart.
            func content() -> [ServiceElement] { characteristics }
            services.append(
                GATTService(
                    service.uuid,
                    isPrimary: service.isPrimary,
                    includes: includes,
                    handle: service.handle,
                    content
                )
            )
        }
        return services
    }

    /// What is kept of a value that nobody has a handler for.
    private func kept(_ handle: AttributeHandle) -> [CharacteristicPart] {
        guard let value = state.values[handle] else { return [] }
        let kept = PersistentValue<[UInt8]>(initially: value, writes: options(of: handle).writes)
        return [.persistent(kept.declaration)]
    }

    private func options(of handle: AttributeHandle) -> PreservedOptions {
        state.options[handle] ?? PreservedOptions()
    }

    private func declaration(
        of attribute: AttributeTable.Attribute,
        _ parts: [CharacteristicPart]
    ) -> CharacteristicDeclaration? {
        guard case .characteristicValue(let service, let index) = attribute.kind else { return nil }
        let database = state.database
        let description = database.table.services[service].characteristics[index]
        let given = parts.compactMap { if case .descriptor(let descriptor) = $0 { descriptor } else { nil } }
        var descriptors: [CharacteristicPart] = []
        for (position, descriptor) in description.descriptors.enumerated() {
            let handle = database.table.descriptorHandle(
                service: service,
                characteristic: index,
                descriptor: position
            )
            if let descriptor = given.first(where: { $0.uuid == descriptor.uuid }) {
                descriptors.append(.descriptor(descriptor))
            } else if let value = database.staticValues[handle] {
                var access = AttributeAccess()
                access.readSources = [.value(value)]
                descriptors.append(
                    .descriptor(
                        DescriptorDeclaration(
                            uuid: descriptor.uuid,
                            security: descriptor.security,
                            access: access
                        )
                    )
                )
            }
        }
        let constant = database.staticValues[attribute.handle].map { [CharacteristicPart.read(.value($0))] }
        let handlers = parts.filter { if case .descriptor = $0 { false } else { true } }
        return CharacteristicDeclaration(
            uuid: description.uuid,
            properties: description.properties,
            security: description.security,
            length: options(of: attribute.handle).length,
            updates: options(of: attribute.handle).updates,
            parts: (constant ?? []) + handlers + descriptors
        )
    }
}

extension Peripheral {
    /// Declares a peripheral as it was, from what is preserved of it.
    ///
    /// A characteristic that is not given a handler is served where that is possible: with its constant value, or with the
    /// value that is kept of it as by a ``PersistentValue``. ``validate()`` names those for which it is not.
    ///
    /// - Parameters:
    ///   - preserved: What is preserved.
    ///   - pairing: How centrals may pair; attributes that demand security need it.
    ///   - characteristics: The characteristics with handlers, made by ``PreservedPeripheral/characteristic(_:as:_:)``.
    ///   - onRestore: Takes what was preserved, as that of ``init(_:restorationIdentifier:pairing:_:onRestore:)``.
    public init(
        restoring preserved: PreservedPeripheral,
        pairing: Pairing = .none,
        @ServiceBuilder handling characteristics: () -> [ServiceElement] = { [] },
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        let services = preserved.declaration(with: characteristics().map(\.characteristic))
        // No closure, which a builder would take apart.
        func content() -> [PeripheralElement] {
            services.map { PeripheralElement(part: .service($0)) }
                + preserved.advertisements.map { PeripheralElement(part: .advertisement($0)) }
        }
        self.init(
            preserved.name,
            restorationIdentifier: preserved.identifier,
            pairing: pairing,
            content,
            onRestore: onRestore
        )
    }
}
