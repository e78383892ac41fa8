/// An error about a preserved state that cannot be used or saved.
public struct RestorationError: Error, Sendable, CustomStringConvertible {
    /// A code that identifies the reason for a ``RestorationError``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case inUse, damaged, foreign, newerVersion, tooLarge, untrusted, unreadable, unwritable
            case invalidIdentifier, closed, incompatible, openedLate
        }

        private let kind: Kind

        /// Another running peripheral uses the restoration identifier.
        ///
        /// The other peripheral can run in the same process or in another process.
        public static let inUse = Code(kind: .inUse)
        /// The preserved state is damaged.
        ///
        /// For example, a file was truncated or changed.
        public static let damaged = Code(kind: .damaged)
        /// The preserved state was saved under another restoration identifier.
        public static let foreign = Code(kind: .foreign)
        /// The preserved state was saved by a newer version of this package.
        ///
        /// The current version of the package cannot read the format of the newer version.
        public static let newerVersion = Code(kind: .newerVersion)
        /// A preserved value does not have the declared type or length.
        public static let incompatible = Code(kind: .incompatible)
        /// The preserved state exceeds the maximum size that the store accepts.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The store does not trust the preserved state.
        ///
        /// A store does not use a state that another user of the system can write.
        ///
        /// The code `untrusted` applies to a symbolic link, and to any file that is not a regular file. The
        /// code `untrusted` also applies if another user owns the file or the directory, or can write to the
        /// file or the directory.
        public static let untrusted = Code(kind: .untrusted)
        /// The system cannot read the preserved state, or denies the program access to it.
        ///
        /// The framework keeps the state unchanged, and tries again later.
        public static let unreadable = Code(kind: .unreadable)
        /// The system does not allow the program to write the preserved state.
        ///
        /// The code `unwritable` also applies if the state cannot be written for another reason.
        public static let unwritable = Code(kind: .unwritable)
        /// The restoration identifier is empty, is too long, or contains U+0000.
        public static let invalidIdentifier = Code(kind: .invalidIdentifier)
        /// The ``RestorationRecord`` is already closed.
        public static let closed = Code(kind: .closed)
        /// The store became available after the peripheral had started without its preserved state.
        ///
        /// The store does not change the preserved state. The next run restores the preserved state. The
        /// store does not preserve the changes of the current run.
        public static let openedLate = Code(kind: .openedLate)

        /// The name of the error code.
        public var description: String { kind.rawValue }
    }

    /// The code that identifies the reason for the error.
    public var code: Code

    /// A message about the error, in one or two sentences.
    ///
    /// The message describes the state that cannot be used or saved, the reason, and the remedy.
    public var message: String

    /// The version of the format in which the preserved state was saved.
    ///
    /// If ``code`` is ``Code/newerVersion`` and the version is known, the property contains the version. In
    /// all other cases, the property is `nil`.
    public var version: Int?

    /// Creates an error that a store can throw.
    public init(code: Code, message: String, version: Int? = nil) {
        self.code = code
        self.message = message
        self.version = version
    }

    /// The message.
    public var description: String { message }
}
