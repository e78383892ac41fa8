/// Where the state of peripherals is preserved, each under its restoration identifier.
///
/// `StateDirectory`, which comes with the backend for BlueZ, keeps it in files; `InMemoryRestorationStore`, for tests, in
/// memory. A store of your own, for a flash partition or a settings service, keeps three promises: what
/// ``RestorationRecord/save(_:)`` has returned for survives a crash at any later instant; what is loaded is one of the
/// documents that were saved, never a mix of two; and nobody opens a record that is open.
public protocol RestorationStore: Sendable {
    /// The identifiers under which something is preserved, in no particular order.
    ///
    /// What is damaged as a whole, or cannot be trusted, is left out; opening and loading it tells why. What is listed may still
    /// mean nothing to this version of the package: a store knows nothing of the meaning.
    ///
    /// - Throws: ``RestorationError`` when the store as a whole cannot be read. One in which nothing has been
    ///   preserved yet has no identifiers, which is no error.
    func identifiers() async throws(RestorationError) -> [String]

    /// Opens the record of an identifier, for this caller alone until it is closed.
    ///
    /// - Parameter identifier: Any text of 1 to 4,096 bytes in UTF-8 without U+0000. Identifiers are compared byte by byte:
    ///   those that differ only in case are different ones.
    /// - Returns: The record, which may have nothing to load yet.
    /// - Throws: ``RestorationError/Code/inUse`` when the record is open already, in this process or in another one;
    ///   ``RestorationError/Code/invalidIdentifier`` when no record can have the identifier;
    ///   ``RestorationError/Code/untrusted``, ``RestorationError/Code/unreadable`` or
    ///   ``RestorationError/Code/unwritable`` when the store cannot be used.
    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord
}

/// What a ``RestorationStore`` preserves of one peripheral.
///
/// Calls are carried out one at a time, in the order in which they are made, and do not block the threads that Swift's
/// tasks run on. A call that has begun is not cut short when the calling task is cancelled.
public protocol RestorationRecord: Sendable {
    /// What was saved last, or `nil` when nothing is preserved yet.
    ///
    /// - Throws: ``RestorationError`` when there is something that cannot be used: ``RestorationError/Code/damaged``,
    ///   ``RestorationError/Code/foreign``, ``RestorationError/Code/newerVersion``, ``RestorationError/Code/tooLarge``,
    ///   ``RestorationError/Code/untrusted`` or ``RestorationError/Code/unreadable``. It is left as it is:
    ///   ``setAside()`` gets it out of the way.
    func load() async throws(RestorationError) -> RestorationDocument?

    /// Preserves a document in place of the one before.
    ///
    /// Once this has returned, the document survives a crash of the program and of the system. When it throws, or is
    /// killed, what was preserved before still is, or the document is as a whole.
    ///
    /// - Throws: ``RestorationError``: ``RestorationError/Code/unwritable`` when the document cannot be written, or
    ///   breaks the rules for names and values; ``RestorationError/Code/tooLarge`` when it is larger than the store takes.
    func save(_ document: RestorationDocument) async throws(RestorationError)

    /// Moves what is preserved to another name, so that nothing is preserved any more, and a person can look into it.
    ///
    /// The last few that were set aside are kept.
    ///
    /// - Returns: Where it is now, for a message to a person; `nil` when nothing was there.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when it cannot be moved.
    func setAside() async throws(RestorationError) -> String?

    /// Moves what is preserved to a name of the version that has saved it, which is newer than this one.
    ///
    /// It does not count among those that ``setAside()`` keeps. When a program whose
    /// ``RestorationDocument/newestVersion`` is that version opens the record, it is what is preserved again.
    /// A store that does not tell versions apart does without this: it sets aside what is preserved.
    ///
    /// - Parameter version: The version, which is above ``RestorationDocument/newestVersion``.
    /// - Returns: Where it is now, for a message to a person; `nil` when nothing was there.
    /// - Throws: ``RestorationError`` with ``RestorationError/Code/unwritable`` when it cannot be moved.
    func setAside(forVersion version: Int) async throws(RestorationError) -> String?

    /// Gives the identifier free, after what was called before is done.
    ///
    /// Every later call but this one throws ``RestorationError/Code/closed``. A record that is no longer referenced is
    /// closed as well.
    func close() async
}

extension RestorationRecord {
    /// Sets aside what is preserved, as ``setAside()`` does.
    public func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try await setAside()
    }
}
