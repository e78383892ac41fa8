public import PeripheralCore

/// The preserved state of a peripheral, from which it can be declared again with new handlers.
///
/// Use it in a program that does not know its declaration in advance:
///
/// ```swift
/// let store = try StateDirectory()
/// for identifier in try await store.identifiers() {
///     do {
///         guard let door = try await PreservedPeripheral(identifier, in: store) else { continue }
///         let isLocked = try door.characteristic("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", as: Bool.self) {
///             PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
///         }
///         doors.append(Peripheral(restoring: door, pairing: .justWorks) { isLocked })
///     } catch {
///         print("\(identifier) is not restored: \(error)")
///     }
/// }
/// ```
///
/// State that cannot be used affects only its own peripheral. Therefore, the `catch` is inside the loop.
/// ``RestorationStore/identifiers()`` omits state that it knows to be damaged. Neither it nor the initializer
/// changes damaged state. A peripheral that runs with the identifier sets it aside and reports the problem.
public struct PreservedPeripheral: Sendable {
    /// The restoration identifier.
    public let identifier: String

    let state: PreservedState

    /// The identities of presentation formats that aggregate formats name, by their handles in the table.
    let formatIdentities: [AttributeHandle: DeclarationIdentity]

    /// The name of the peripheral.
    public var name: String { state.name }

    /// The services in their order, with all their characteristics and descriptors.
    public var services: [ServiceDescription] { state.database.table.services }

    /// The advertisements.
    public var advertisements: [Advertisement] { state.advertisements }

    /// Reads the preserved state of an identifier without changing it.
    ///
    /// The result is `nil` when nothing is preserved under the identifier.
    ///
    /// - Parameters:
    ///   - identifier: The restoration identifier.
    ///   - store: The store that contains the state.
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/inUse`` while a peripheral runs
    ///   with the identifier, or with the reason why the state cannot be read.
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
        let formats = Set(found.formats.values.joined())
        formatIdentities = Dictionary(uniqueKeysWithValues: formats.map { ($0, DeclarationIdentity()) })
    }

    /// Returns a characteristic as it was, with handlers.
    ///
    /// It has its earlier properties, security, length, update policy and constant descriptors. Writes that
    /// were ``WriteDurability/durable`` stay durable, whatever the ``PersistentValue`` declares, because
    /// centrals rely on it.
    ///
    /// - Parameters:
    ///   - uuid: The type of the characteristic.
    ///   - service: The type of its service; `nil` for any service.
    ///   - occurrence: The index among several characteristics of this type, in the order of ``services``; 0
    ///     for the first.
    ///   - type: The type of the value.
    ///   - content: The ``Read`` and ``Write``, the ``PersistentValue``, the ``Authorization``, and the
    ///     descriptors whose values change.
    /// - Returns: The characteristic, for ``Peripheral/init(restoring:pairing:handling:onRestore:)``.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there is no such
    ///   characteristic.
    public func characteristic<Value>(
        _ uuid: BluetoothUUID,
        ofService service: BluetoothUUID? = nil,
        occurrence: Int = 0,
        as type: Value.Type = Value.self,
        @CharacteristicBuilder<Value> _ content: () -> [CharacteristicElement<Value>]
    ) throws(PeripheralError) -> Characteristic<Value> {
        let table = state.database.table
        let places = table.attributes.filter { attribute in
            guard case .characteristicValue(let position, _) = attribute.kind else { return false }
            return attribute.type == uuid
                && (service ?? table.services[position].uuid) == table.services[position].uuid
        }
        guard places.indices.contains(occurrence),
            let declaration = declaration(of: places[occurrence], content().map(\.part))
        else {
            throw PeripheralError(
                code: .notDeclared,
                message: "The preserved peripheral \"\(identifier)\" has no characteristic \(uuid)"
                    + (service.map { " of service \($0)" } ?? "")
                    + (occurrence == 0 ? "." : " with index \(occurrence) among those of its type.")
            )
        }
        return Characteristic(declaration: declaration)
    }
}

extension Peripheral {
    /// Declares a peripheral as it was, from its preserved state.
    ///
    /// A characteristic without a handler is served with its constant value, or with its preserved value as
    /// by a ``PersistentValue``. ``validate()`` reports these problems:
    ///
    /// - A characteristic has no handler and neither of these values.
    /// - A characteristic had an ``Authorization`` and is given none. It refuses all centrals.
    /// - A characteristic is given that the peripheral did not have.
    ///
    /// The peripheral advertises what it advertised before. If advertising was stopped with
    /// ``PeripheralSession/stopAdvertising()``, it advertises nothing until the program starts advertising.
    ///
    /// - Parameters:
    ///   - preserved: The preserved state.
    ///   - pairing: How centrals may pair. Attributes that require security need it.
    ///   - characteristics: The characteristics with handlers, made by
    ///     ``PreservedPeripheral/characteristic(_:ofService:occurrence:as:_:)``.
    ///   - onRestore: A closure that receives the restored state, as in
    ///     ``init(_:restorationIdentifier:pairing:_:onRestore:)``.
    public init(
        restoring preserved: PreservedPeripheral,
        pairing: Pairing = .none,
        @ServiceBuilder handling characteristics: () -> [ServiceElement] = { [] },
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        let declaration = RestoredDeclaration(of: preserved, with: characteristics().map(\.characteristic))
        // A function, because a result builder would transform a closure.
        func content() -> [PeripheralElement] {
            declaration.services.map { PeripheralElement(part: .service($0)) }
                + preserved.advertisements.map { PeripheralElement(part: .advertisement($0)) }
        }
        self.init(
            preserved.name,
            restorationIdentifier: preserved.identifier,
            pairing: pairing,
            content,
            onRestore: onRestore
        )
        isSilentAtFirst = preserved.advertisements.isEmpty
        restorationIssues = declaration.issues
    }
}
