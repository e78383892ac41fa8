/// Why the preserved state of a peripheral cannot be used or kept.
public struct RestorationError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case inUse, damaged, foreign, newerVersion, tooLarge, untrusted, unreadable, unwritable
            case invalidIdentifier, closed, incompatible, openedLate
        }

        private let kind: Kind

        /// Another peripheral, in this process or in another one, has the identifier.
        public static let inUse = Code(kind: .inUse)
        /// What is preserved is not what was saved: truncated, changed, or of another kind altogether.
        public static let damaged = Code(kind: .damaged)
        /// What is preserved there was saved under another identifier.
        public static let foreign = Code(kind: .foreign)
        /// What is preserved was saved by a newer version of this package, whose form this one does not know.
        public static let newerVersion = Code(kind: .newerVersion)
        /// What is preserved of a value is none of the type and length that are declared now.
        public static let incompatible = Code(kind: .incompatible)
        /// What is preserved, or is to be, is larger than the store takes.
        public static let tooLarge = Code(kind: .tooLarge)
        /// Somebody else may have written it: a symbolic link, something that is no regular file, or a file or directory
        /// that belongs to another user or that other users may write.
        public static let untrusted = Code(kind: .untrusted)
        /// The system did not let this program read it.
        public static let unreadable = Code(kind: .unreadable)
        /// The system did not let this program write it, or the document cannot be written at all.
        public static let unwritable = Code(kind: .unwritable)
        /// No record can have the identifier: it is empty, too long, or contains U+0000.
        public static let invalidIdentifier = Code(kind: .invalidIdentifier)
        /// The record was closed.
        public static let closed = Code(kind: .closed)
        /// What is preserved could be opened only after the peripheral had begun without it.
        ///
        /// It stays as it is for the next run, and nothing is preserved in this one.
        public static let openedLate = Code(kind: .openedLate)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code

    /// One sentence or two: what cannot be used or kept, why, and what to do about it.
    public var message: String

    /// The version that has saved what is preserved, where ``code`` is ``Code/newerVersion`` and the version is known.
    public var version: Int?

    /// Makes an error, for stores.
    public init(code: Code, message: String, version: Int? = nil) {
        self.code = code
        self.message = message
        self.version = version
    }

    /// The message.
    public var description: String { message }
}
