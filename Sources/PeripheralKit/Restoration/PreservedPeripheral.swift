public import PeripheralCore

/// The preserved state of a peripheral, for use in a new declaration of that peripheral.
///
/// The program adds new handlers to the preserved declaration. Use `PreservedPeripheral` in a program that
/// does not know the declarations of its peripherals in advance:
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
/// The `catch` clause in the example is inside the loop. If the preserved state of one peripheral cannot be
/// used, the loop continues with the next peripheral. If a store detects that a state is damaged,
/// ``RestorationStore/identifiers()`` omits the identifier of this state. ``RestorationStore/identifiers()``
/// and `init(_:in:)` do not change a damaged state. If a program later runs a peripheral with the identifier
/// of a damaged state, the framework moves the state to another name and reports the problem.
public struct PreservedPeripheral: Sendable {
    /// The restoration identifier.
    public let identifier: String

    let state: PreservedState

    /// The identities of presentation formats that aggregate formats name, by their handles in the table.
    let formatIdentities: [AttributeHandle: DeclarationIdentity]

    /// The name of the peripheral.
    public var name: String { state.name }

    /// The services in the order of their declaration, with all characteristics and descriptors.
    public var services: [ServiceDescription] { state.database.table.services }

    /// The advertisements.
    public var advertisements: [Advertisement] { state.advertisements }

    /// Reads the preserved state of a peripheral without changing the state.
    ///
    /// The result is `nil` if no state is preserved under the identifier.
    ///
    /// - Parameters:
    ///   - identifier: The restoration identifier.
    ///   - store: The store that contains the preserved state.
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/inUse`` if a peripheral runs with
    ///   the identifier. ``RestorationError`` with a different code if the preserved state cannot be read.
    public init?(
        _ identifier: String,
        in store: some RestorationStore
    ) async throws(RestorationError) {
        let record = try await store.open(identifier)
        let found: PreservedState?
        do throws(RestorationError) {
            if let restorationState = try await record.load() {
                found = try PreservedState(decoding: restorationState)
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
    /// The characteristic has the same properties, security, length, update policy and constant descriptors
    /// as in the earlier run. If the writes were ``WriteDurability/durable`` in the earlier run, they are
    /// also durable in the new run. The new ``PersistentValue`` cannot change the durability of the writes.
    /// If the writes were durable in the earlier run, centrals still expect the peripheral to preserve each
    /// successful write.
    ///
    /// - Parameters:
    ///   - uuid: The type of the characteristic.
    ///   - service: The type of the service that contains the characteristic, or `nil` for any service.
    ///   - occurrence: The index in the list of all characteristics that match `uuid` and `service`. The list
    ///     has the same order as ``services``. The first index is 0.
    ///   - type: The type of the value.
    ///   - content: The handlers of the characteristic, and the descriptors whose values can change. A
    ///     handler is a ``Read``, ``Write``, ``PersistentValue`` or ``Authorization``.
    /// - Returns: The characteristic to pass to
    ///   ``Peripheral/init(restoring:reservedHandles:pairing:handling:onRestore:)``.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` if the preserved
    ///   state does not contain the characteristic.
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
    /// Declares a peripheral from the preserved state of an earlier run.
    ///
    /// The peripheral serves the constant value of a characteristic that has no handler. If a characteristic
    /// has neither a handler nor a constant value, the framework restores its preserved value. A
    /// characteristic with a restored value behaves like a characteristic with a ``PersistentValue``.
    /// ``validate()`` reports these problems of a restored declaration:
    ///
    /// - A characteristic has no handler, no constant value and no preserved value.
    /// - A characteristic had an ``Authorization`` in the earlier run but has no ``Authorization`` in the new
    ///   declaration. Without the ``Authorization``, the framework does not allow any central to use the
    ///   characteristic.
    /// - The program passes a characteristic with a new handler, but the preserved state does not contain
    ///   this characteristic.
    ///
    /// The restored peripheral has the same advertisements as the peripheral of the earlier run. If the
    /// earlier run had stopped advertising with ``PeripheralSession/stopAdvertising()``, the restored
    /// peripheral does not advertise until the program starts advertising.
    ///
    /// - Parameters:
    ///   - preserved: The preserved state.
    ///   - reservedHandles: The number of attribute handles, from 0 to 512, to reserve for services that the
    ///     program adds during a run.
    ///   - pairing: The pairing methods for centrals, with their handlers. If an attribute requires security,
    ///     the peripheral needs a pairing method.
    ///   - characteristics: The characteristics with new handlers.
    ///     ``PreservedPeripheral/characteristic(_:ofService:occurrence:as:_:)`` returns such a
    ///     characteristic.
    ///   - onRestore: A closure that receives the restored state. See
    ///     ``init(_:restorationIdentifier:reservedHandles:pairing:_:onRestore:)``.
    public init(
        restoring preserved: PreservedPeripheral,
        reservedHandles: Int = 0,
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
            reservedHandles: reservedHandles,
            pairing: pairing,
            content,
            onRestore: onRestore
        )
        isSilentAtFirst = preserved.advertisements.isEmpty
        restorationIssues = declaration.issues
    }
}
