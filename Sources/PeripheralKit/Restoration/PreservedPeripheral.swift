public import PeripheralCore

/// What is preserved under a restoration identifier: a peripheral that lacks nothing but its handlers.
///
/// A program that does not know by itself what it had published declares it anew from this:
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
/// What is preserved of one peripheral and cannot be used says nothing about the others: hence the `catch` inside of the loop.
/// ``RestorationStore/identifiers()`` leaves out what it knows to be damaged. Neither touches it; a peripheral that runs with the
/// identifier sets it aside, and tells.
public struct PreservedPeripheral: Sendable {
    /// The restoration identifier.
    public let identifier: String

    let state: PreservedState

    /// What tells the presentation formats that aggregate formats name, by their handles in the table.
    let formatIdentities: [AttributeHandle: DeclarationIdentity]

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
        let formats = Set(found.formats.values.joined())
        formatIdentities = Dictionary(uniqueKeysWithValues: formats.map { ($0, DeclarationIdentity()) })
    }

    /// A characteristic as it was, with handlers.
    ///
    /// It has the properties, the security, the length, the policy for updates, and the constant descriptors that it had. Writes that
    /// were ``WriteDurability/durable`` stay so, whatever the ``PersistentValue`` says: centrals rely on it.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - service: The type of its service; `nil` where that does not matter.
    ///   - occurrence: Which one is meant of several of this type, in the order of ``services``; 0 is the first.
    ///   - type: The type of its value.
    ///   - content: Its ``Read`` and ``Write``, its ``PersistentValue``, its ``Authorization``, and the descriptors whose values
    ///     change.
    /// - Returns: The characteristic, to be handed to ``Peripheral/init(restoring:pairing:handling:onRestore:)``.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there was none.
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
                message: "The peripheral that is preserved as \"\(identifier)\" has no characteristic \(uuid)"
                    + (service.map { " of service \($0)" } ?? "")
                    + (occurrence == 0 ? "." : " with \(occurrence) of its type before it.")
            )
        }
        return Characteristic(declaration: declaration)
    }
}

extension Peripheral {
    /// Declares a peripheral as it was, from what is preserved of it.
    ///
    /// A characteristic that is not given a handler is served where that is possible: with its constant value, or with the
    /// value that is kept of it as by a ``PersistentValue``. ``validate()`` names those for which it is not, and what else
    /// would not be as it was: a characteristic that had an ``Authorization`` and is given none, which admits nobody, and one
    /// that is given but has no place.
    ///
    /// It advertises what it did: nothing until the program demands it, after ``PeripheralSession/stopAdvertising()``.
    ///
    /// - Parameters:
    ///   - preserved: What is preserved.
    ///   - pairing: How centrals may pair; attributes that demand security need it.
    ///   - characteristics: The characteristics with handlers, made by
    ///     ``PreservedPeripheral/characteristic(_:ofService:occurrence:as:_:)``.
    ///   - onRestore: Takes what was preserved, as that of ``init(_:restorationIdentifier:pairing:_:onRestore:)``.
    public init(
        restoring preserved: PreservedPeripheral,
        pairing: Pairing = .none,
        @ServiceBuilder handling characteristics: () -> [ServiceElement] = { [] },
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        let declaration = RestoredDeclaration(of: preserved, with: characteristics().map(\.characteristic))
        // No closure, which a builder would take apart.
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
