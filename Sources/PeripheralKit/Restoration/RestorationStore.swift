/// A store that preserves the state of peripherals.
///
/// The store preserves the state of each peripheral under the restoration identifier of the peripheral. The
/// type `StateDirectory` stores the state in files. The type `InMemoryRestorationStore` stores the state in
/// memory and is intended for tests. A program can implement another store, for example for a flash partition
/// or a settings service. A restoration store must meet these requirements:
///
/// - After ``RestorationRecord/save(_:)`` has returned, the saved state survives every later crash.
/// - A loaded state is exactly one of the saved states, and never a mixture of two saved states.
/// - While a record is open, a store refuses to open the record again.
public protocol RestorationStore: Sendable {
    /// Returns the identifiers of preserved states, in no particular order.
    ///
    /// The result omits the identifiers of damaged states and of states that cannot be trusted. To find the
    /// reason for an omission, open and load the record of the omitted identifier. The result can contain the
    /// identifier of a state that this version of the package cannot use, because a store does not interpret
    /// the contents of a state.
    ///
    /// - Throws: ``RestorationError`` if the whole store cannot be read. For an empty store, the function
    ///   returns an empty array.
    func identifiers() async throws(RestorationError) -> [String]

    /// Opens the record of a restoration identifier for exclusive use.
    ///
    /// The exclusive use ends when the record is closed.
    ///
    /// - Parameter identifier: The restoration identifier, with 1 to 4,096 bytes of UTF-8 without the
    ///   character U+0000. Stores compare identifiers byte by byte, and distinguish upper and lower case.
    /// - Returns: The record, which is empty if no state is preserved under the identifier.
    /// - Throws: ``RestorationError`` with one of these codes:
    ///   - ``RestorationError/Code/inUse`` if the record is already open in any process.
    ///   - ``RestorationError/Code/invalidIdentifier`` if the identifier is not valid.
    ///   - ``RestorationError/Code/untrusted``, ``RestorationError/Code/unreadable`` or
    ///     ``RestorationError/Code/unwritable`` if the store cannot be used.
    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord
}

extension RestorationStore {
    /// Erases the preserved state of a restoration identifier, for example for a factory reset.
    ///
    /// After `erase(_:)` has returned, the next run with the identifier starts like the first run. The
    /// function also erases a state that is damaged or that a newer version of this package has saved, and
    /// the states that were set aside. If no state is preserved, the function has no effect.
    ///
    /// The function does not remove bonds, because the Bluetooth stack stores the bonds. To remove a bond,
    /// call ``PeripheralSession/forget(_:)`` during a run. <doc:Restoration> describes a factory reset.
    ///
    /// - Parameter identifier: The restoration identifier.
    /// - Throws: ``RestorationError`` with one of these codes:
    ///   - ``RestorationError/Code/inUse`` if a peripheral runs with the identifier, in this process or in
    ///     another process. The state does not change. End the run first.
    ///   - ``RestorationError/Code/unwritable`` if the state cannot be removed, for example because the
    ///     directory is read-only.
    ///   - The other codes that ``open(_:)`` throws.
    public func erase(_ identifier: String) async throws(RestorationError) {
        let record: any RestorationRecord
        do throws(RestorationError) {
            record = try await open(identifier)
        } catch {
            guard error.code == .inUse else { throw error }
            throw RestorationError(
                code: .inUse,
                message:
                    "The state of \"\(identifier)\" is not erased, because a peripheral uses it, in this program or "
                    + "another. End that run first, and then erase the state."
            )
        }
        do throws(RestorationError) {
            try await record.erase()
        } catch {
            await record.close()
            throw error
        }
        await record.close()
    }
}

/// A record with the preserved state of one peripheral in a ``RestorationStore``.
///
/// The functions of a record run one at a time. If several tasks call functions of a record, the functions
/// run in the order of the calls. The functions of a record do not block the threads of the Swift concurrency
/// runtime. If the calling task is cancelled, a call that has already begun continues.
public protocol RestorationRecord: Sendable {
    /// Returns the last saved state, or `nil` if no state is preserved.
    ///
    /// - Throws: ``RestorationError`` if the preserved state cannot be used. The code of the error is
    ///   ``RestorationError/Code/damaged``, ``RestorationError/Code/foreign``,
    ///   ``RestorationError/Code/newerVersion``, ``RestorationError/Code/tooLarge``,
    ///   ``RestorationError/Code/untrusted`` or ``RestorationError/Code/unreadable``. If the function throws,
    ///   the preserved state does not change. To move the preserved state to another name, call
    ///   ``setAside()``. After the error ``RestorationError/Code/unreadable``, the framework calls `load()`
    ///   again later.
    func load() async throws(RestorationError) -> RestorationState?

    /// Saves a state, which replaces the earlier state.
    ///
    /// After `save(_:)` has returned, the saved state survives a crash of the program and of the system. If
    /// `save(_:)` throws an error, or if the program is killed, either the whole earlier state or the whole
    /// new state is preserved.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` if the state cannot
    ///   be written, or contains an invalid group name, key or value. ``RestorationError`` with the code
    ///   ``RestorationError/Code/tooLarge`` if the state is larger than the store accepts.
    func save(_ restorationState: RestorationState) async throws(RestorationError)

    /// Moves the preserved state to another name.
    ///
    /// A person can examine the moved state.
    ///
    /// After a call of `setAside()`, no state is preserved under the identifier. The store retains the newest
    /// states that were set aside.
    ///
    /// - Returns: The new location of the state, or `nil` if no state was preserved. A program can show the
    ///   location to a person.
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` if the state cannot
    ///   be moved.
    func setAside() async throws(RestorationError) -> String?

    /// Moves the preserved state to a name for the newer version of the format.
    ///
    /// The state was saved by a program that uses the newer version. The moved state does not count among the
    /// states that ``setAside()`` retains. A program that can read the newer version restores the moved state
    /// when the program opens the record.
    ///
    /// A store that does not distinguish versions need not implement this function. The default
    /// implementation calls ``setAside()``.
    ///
    /// - Parameter version: The version of the preserved state, which is greater than
    ///   ``RestorationState/newestVersion``.
    /// - Returns: The new location of the state, or `nil` if no state was preserved. A program can show the
    ///   location to a person.
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` if the state cannot
    ///   be moved.
    func setAside(forVersion version: Int) async throws(RestorationError) -> String?

    /// Removes the preserved state, and the states that were set aside.
    ///
    /// The function also removes a state that ``load()`` cannot use. If no state exists, the function has no
    /// effect. If the program is killed before `erase()` has returned, the preserved state is either
    /// unchanged or removed.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` if a state cannot be
    ///   removed. The preserved state is then unchanged, but states that were set aside can be missing.
    func erase() async throws(RestorationError)

    /// Closes the record.
    ///
    /// After the record is closed, it can be opened again.
    ///
    /// The record is closed after all earlier calls have ended. After the record is closed, calls of all
    /// other functions throw an error with the code ``RestorationError/Code/closed``. A record is also closed
    /// when no reference to the record exists.
    func close() async
}

extension RestorationRecord {
    /// Moves the preserved state with ``setAside()``.
    ///
    /// The default implementation ignores the version.
    public func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try await setAside()
    }
}
