public import PeripheralCore

/// The preserved state of a peripheral, from which a program can declare the peripheral again.
///
/// The program adds new handlers. Use this type in a program that does not know its declaration in advance:
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
/// State that cannot be used affects only one peripheral. Therefore, the `catch` is inside the loop.
/// ``RestorationStore/identifiers()`` omits state that is known to be damaged. Neither that function nor the
/// initializer changes damaged state. A peripheral that runs with the identifier sets the damaged state aside
/// and reports the problem.
public struct PreservedPeripheral: Sendable {
    /// The restoration identifier.
    public let identifier: String

    let state: PreservedState

    /// The identities of presentation formats that aggregate formats name, by their handles in the table.
    let formatIdentities: [AttributeHandle: DeclarationIdentity]

    /// The name of the peripheral.
    public var name: String { state.name }

    /// The services in the order of the declaration, with all characteristics and descriptors.
    public var services: [ServiceDescription] { state.database.table.services }

    /// The advertisements.
    public var advertisements: [Advertisement] { state.advertisements }

    /// Reads the preserved state of an identifier without changing it.
    ///
    /// The result is `nil` when no state is preserved under the identifier.
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

    /// Returns a preserved characteristic with new handlers.
    ///
    /// The characteristic has its earlier properties, security, length, update policy and constant
    /// descriptors. If writes were ``WriteDurability/durable``, they stay durable even if the
    /// ``PersistentValue`` declares another durability, because centrals rely on durable writes.
    ///
    /// - Parameters:
    ///   - uuid: The type of the characteristic.
    ///   - service: The type of the service that contains the characteristic; `nil` for any service.
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
    /// Declares a peripheral from its preserved state.
    ///
    /// A characteristic without a handler has its constant value, or its preserved value like a
    /// ``PersistentValue``. ``validate()`` reports these problems:
    ///
    /// - A characteristic has no handler, no constant value and no preserved value.
    /// - A characteristic had an ``Authorization`` earlier and has no ``Authorization`` now. The
    ///   characteristic refuses all centrals.
    /// - One of the characteristics with handlers did not exist in the earlier peripheral.
    ///
    /// The peripheral has the same advertisements as before. If ``PeripheralSession/stopAdvertising()``
    /// stopped advertising in the earlier run, the peripheral does not advertise until the program starts
    /// advertising.
    ///
    /// - Parameters:
    ///   - preserved: The preserved state.
    ///   - pairing: How centrals may pair. Attributes that require security need a pairing method.
    ///   - characteristics: The characteristics with handlers, as returned by
    ///     ``PreservedPeripheral/characteristic(_:ofService:occurrence:as:_:)``.
    ///   - onRestore: A closure that receives the restored state. See
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
