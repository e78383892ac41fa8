/// A place that preserves the state of peripherals.
///
/// The state of each peripheral is preserved under its restoration identifier. `StateDirectory` in the
/// backend for BlueZ uses files. `InMemoryRestorationStore` uses memory and is for tests. You can write
/// another store, for example for a flash partition or a settings service. A store must keep three promises:
///
/// - When ``RestorationRecord/save(_:)`` has returned, the state survives a crash at any later time.
/// - A loaded state is one of the states that were saved, never a mixture of two states.
/// - An open record cannot be opened again until it is closed.
public protocol RestorationStore: Sendable {
    /// Returns the identifiers under which state is preserved, in no particular order.
    ///
    /// The result omits the identifiers of damaged state and of state that cannot be trusted. Opening and
    /// loading the record of such state throws the reason. A listed identifier may still have state that this
    /// version of the package cannot use, because a store does not interpret the contents.
    ///
    /// - Throws: ``RestorationError`` when the store as a whole cannot be read. An empty store has no
    ///   identifiers, and the function does not throw.
    func identifiers() async throws(RestorationError) -> [String]

    /// Opens the record of an identifier for exclusive use until it is closed.
    ///
    /// - Parameter identifier: A text of 1 to 4,096 bytes in UTF-8 without U+0000. Identifiers are compared
    ///   byte by byte, so upper and lower case differ.
    /// - Returns: The record, which is empty if no state is preserved under the identifier.
    /// - Throws: ``RestorationError`` with one of these codes:
    ///   - ``RestorationError/Code/inUse`` when the record is already open in any process.
    ///   - ``RestorationError/Code/invalidIdentifier`` when the identifier is not valid.
    ///   - ``RestorationError/Code/untrusted``, ``RestorationError/Code/unreadable`` or
    ///     ``RestorationError/Code/unwritable`` when the store cannot be used.
    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord
}

/// The preserved state of one peripheral in a ``RestorationStore``.
///
/// Calls are carried out one at a time, in order. The calls do not block the threads of Swift's tasks. If the
/// calling task is cancelled, a call that has begun continues.
public protocol RestorationRecord: Sendable {
    /// Returns the last saved state, or `nil` when no state is preserved.
    ///
    /// - Throws: ``RestorationError`` when the state cannot be used, with the code
    ///   ``RestorationError/Code/damaged``, ``RestorationError/Code/foreign``,
    ///   ``RestorationError/Code/newerVersion``, ``RestorationError/Code/tooLarge``,
    ///   ``RestorationError/Code/untrusted`` or ``RestorationError/Code/unreadable``. In this case, the state
    ///   does not change. ``setAside()`` moves the state to another name.
    func load() async throws(RestorationError) -> RestorationState?

    /// Saves a state and replaces the earlier state.
    ///
    /// When this function has returned, the state survives a crash of the program and of the system. If the
    /// function throws, or if the program is killed, either the whole earlier state or the whole new state is
    /// preserved.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` when the state
    ///   cannot be written, or breaks the rules for names and values. ``RestorationError`` with the code
    ///   ``RestorationError/Code/tooLarge`` when the state is larger than the store accepts.
    func save(_ document: RestorationState) async throws(RestorationError)

    /// Moves the preserved state to another name, so that a person can examine it.
    ///
    /// After this call, no state is preserved under the identifier. The store retains the last few states
    /// that were set aside.
    ///
    /// - Returns: The new location, for a message to a person; `nil` when there was no state.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when the state cannot be
    ///   moved.
    func setAside() async throws(RestorationError) -> String?

    /// Moves the preserved state to a name for the newer version that saved this state.
    ///
    /// The moved state does not count among the states that ``setAside()`` retains. A program whose
    /// ``RestorationState/newestVersion`` is that version restores the moved state when it opens the record.
    ///
    /// A store that does not distinguish versions need not implement this function. The default
    /// implementation calls ``setAside()``.
    ///
    /// - Parameter version: The version, above ``RestorationState/newestVersion``.
    /// - Returns: The new location, for a message to a person; `nil` when there was no state.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when the state cannot be
    ///   moved.
    func setAside(forVersion version: Int) async throws(RestorationError) -> String?

    /// Closes the record, so that it can be opened again.
    ///
    /// The record is closed after all earlier calls have ended. Later calls of all other functions throw
    /// ``RestorationError/Code/closed``. A record is also closed when it is no longer referenced.
    func close() async
}

extension RestorationRecord {
    /// Sets the preserved state aside like ``setAside()``, without distinguishing versions.
    public func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try await setAside()
    }
}
