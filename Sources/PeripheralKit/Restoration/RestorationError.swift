/// The reason why the preserved state of a peripheral cannot be used or saved.
public struct RestorationError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case inUse, damaged, foreign, newerVersion, tooLarge, untrusted, unreadable, unwritable
            case invalidIdentifier, closed, incompatible, openedLate
        }

        private let kind: Kind

        /// Another peripheral in any process uses the identifier.
        public static let inUse = Code(kind: .inUse)
        /// The preserved state is not the state that was saved, for example because it was truncated or
        /// changed.
        public static let damaged = Code(kind: .damaged)
        /// The preserved state was saved under another identifier.
        public static let foreign = Code(kind: .foreign)
        /// The preserved state was saved by a newer version of this package.
        ///
        /// This version cannot read the format of the newer version.
        public static let newerVersion = Code(kind: .newerVersion)
        /// A preserved value does not have the declared type or length.
        public static let incompatible = Code(kind: .incompatible)
        /// The state is larger than the store accepts.
        public static let tooLarge = Code(kind: .tooLarge)
        /// Another user may have written the state.
        ///
        /// This code applies to a symbolic link, and to any file that is not a regular file. The code also
        /// applies if another user owns the file or the directory, or can write to it.
        public static let untrusted = Code(kind: .untrusted)
        /// The system did not allow this program to read the state.
        public static let unreadable = Code(kind: .unreadable)
        /// The system did not allow this program to write the state.
        ///
        /// This code also stands for a state that cannot be written for another reason.
        public static let unwritable = Code(kind: .unwritable)
        /// The identifier is not valid: it is empty, too long, or contains U+0000.
        public static let invalidIdentifier = Code(kind: .invalidIdentifier)
        /// The record is closed.
        public static let closed = Code(kind: .closed)
        /// The store became available after the peripheral had begun without its preserved state.
        ///
        /// The preserved state does not change and is restored in the next run. Changes in this run are not
        /// preserved.
        public static let openedLate = Code(kind: .openedLate)

        /// The name of the code.
        public var description: String { kind.rawValue }
    }

    /// The kind of the error.
    public var code: Code

    /// A message of one or two sentences.
    ///
    /// The message says which state cannot be used or saved, the reason, and how to solve the problem.
    public var message: String

    /// The version of the preserved state, if ``code`` is ``Code/newerVersion`` and the version is known.
    public var version: Int?

    /// Creates an error, for stores.
    public init(code: Code, message: String, version: Int? = nil) {
        self.code = code
        self.message = message
        self.version = version
    }

    /// The message.
    public var description: String { message }
}
