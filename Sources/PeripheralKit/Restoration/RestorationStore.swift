/// A place where the state of peripherals is preserved, each under its restoration identifier.
///
/// `StateDirectory`, which comes with the backend for BlueZ, uses files. `InMemoryRestorationStore`, for
/// tests, uses memory. You can write another store, for example for a flash partition or a settings service.
/// It must keep three promises:
///
/// - When ``RestorationRecord/save(_:)`` has returned, the state survives a crash at any later time.
/// - A loaded state is one of the states that were saved, never a mixture of two.
/// - An open record cannot be opened again until it is closed.
public protocol RestorationStore: Sendable {
    /// Returns the identifiers under which state is preserved, in no particular order.
    ///
    /// State that is damaged as a whole, or that cannot be trusted, is omitted. Opening and loading its
    /// record throws the reason. State that is listed may still be unusable for this version of the package,
    /// because a store does not interpret the contents.
    ///
    /// - Throws: ``RestorationError`` when the store as a whole cannot be read. A store in which nothing has
    ///   been preserved yet has no identifiers; that is not an error.
    func identifiers() async throws(RestorationError) -> [String]

    /// Opens the record of an identifier for exclusive use until it is closed.
    ///
    /// - Parameter identifier: A text of 1 to 4,096 bytes in UTF-8 without U+0000. Identifiers are compared
    ///   byte by byte, so upper and lower case differ.
    /// - Returns: The record, which may be empty.
    /// - Throws: ``RestorationError`` with one of these codes:
    ///   - ``RestorationError/Code/inUse`` when the record is already open, in this process or another.
    ///   - ``RestorationError/Code/invalidIdentifier`` when the identifier is not valid.
    ///   - ``RestorationError/Code/untrusted``, ``RestorationError/Code/unreadable`` or
    ///     ``RestorationError/Code/unwritable`` when the store cannot be used.
    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord
}

/// The preserved state of one peripheral in a ``RestorationStore``.
///
/// Calls are carried out one at a time, in order. They do not block the threads that Swift's tasks run on. A
/// call that has begun is not interrupted when the calling task is cancelled.
public protocol RestorationRecord: Sendable {
    /// Returns the state that was saved last, or `nil` when nothing is preserved yet.
    ///
    /// - Throws: ``RestorationError`` when the state cannot be used, with the code
    ///   ``RestorationError/Code/damaged``, ``RestorationError/Code/foreign``,
    ///   ``RestorationError/Code/newerVersion``, ``RestorationError/Code/tooLarge``,
    ///   ``RestorationError/Code/untrusted`` or ``RestorationError/Code/unreadable``. The state stays as it
    ///   is. ``setAside()`` moves it out of the way.
    func load() async throws(RestorationError) -> RestorationState?

    /// Saves a state in place of the earlier one.
    ///
    /// When this function has returned, the state survives a crash of the program and of the system. If it
    /// throws, or if the program is killed, either the earlier state or the new one is preserved, as a whole.
    ///
    /// - Throws: ``RestorationError`` with the code ``RestorationError/Code/unwritable`` when the state
    ///   cannot be written, or breaks the rules for names and values; with ``RestorationError/Code/tooLarge``
    ///   when it is larger than the store accepts.
    func save(_ document: RestorationState) async throws(RestorationError)

    /// Moves the preserved state to another name, where a person can examine it.
    ///
    /// Nothing is preserved under the identifier then. The store retains the last few states that were set
    /// aside.
    ///
    /// - Returns: The new location, for a message to a person; `nil` when there was no state.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when the state cannot be
    ///   moved.
    func setAside() async throws(RestorationError) -> String?

    /// Moves the preserved state to a name for the newer version that has saved it.
    ///
    /// It does not count among the states that ``setAside()`` retains. It becomes the preserved state again
    /// when a program opens the record whose ``RestorationState/newestVersion`` is that version. A store
    /// that does not distinguish versions need not implement this function; the default calls ``setAside()``.
    ///
    /// - Parameter version: The version, above ``RestorationState/newestVersion``.
    /// - Returns: The new location, for a message to a person; `nil` when there was no state.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when the state cannot be
    ///   moved.
    func setAside(forVersion version: Int) async throws(RestorationError) -> String?

    /// Closes the record after all earlier calls are done, so that it can be opened again.
    ///
    /// Later calls throw ``RestorationError/Code/closed``, except for this one. A record is also closed when
    /// it is no longer referenced.
    func close() async
}

extension RestorationRecord {
    /// Sets the preserved state aside as ``setAside()`` does, without distinguishing versions.
    public func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try await setAside()
    }
}
