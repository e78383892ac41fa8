public import PeripheralKit

/// A directory in which the state of peripherals is preserved, a file for each.
///
/// ```swift
/// let store = try StateDirectory()
/// ```
///
/// A file is a key file, as desktop and system services use them, which holds the identifier and a checksum besides the
/// state. It is written as a whole to a temporary file, flushed to the disk and moved into place, so that a crash leaves
/// the old one or the new one. A record that is open is locked against other processes; the lock ends with the
/// process, however that ends.
///
/// Nothing in the directory is trusted: files that others could have written, symbolic links, and whatever is not what
/// was saved are refused, never followed and never obeyed. Files have the mode 0600; the directory, where it has to be
/// made, 0700. All of it takes place on threads that end with their work.
public struct StateDirectory: RestorationStore {
    /// The largest file that is read or written, in bytes.
    public static let maximumFileSize = StateFileFormat.maximumSize

    /// The path of the directory.
    public let path: String

    /// How many of the last components of the path are made when they are missing.
    private let madeComponentCount: Int

    /// The directory that is meant for the state of this program.
    ///
    /// That is the first of these; nothing is made or read before a record is opened:
    /// 1. `$STATE_DIRECTORY`, which systemd sets for a service with `StateDirectory=`; the first, if it lists several;
    /// 2. `$XDG_STATE_HOME/NAME`, where `NAME` is the name of the program;
    /// 3. `$HOME/.local/state/NAME`.
    ///
    /// - Throws: `RestorationError` when none of these variables is set.
    public init() throws(RestorationError) {
        let location = try StateLocation(
            environment: StateLocation.processEnvironment,
            programName: StateLocation.programName
        )
        self.init(path: location.path, madeComponentCount: location.madeComponentCount)
    }

    /// The directory at a path, which is made when it is missing; what it lies in has to be there.
    ///
    /// - Parameter path: The path, which may lead through symbolic links. The directory itself must belong to the user that
    ///   the program runs as, and must not be writable by others.
    public init(path: String) {
        self.init(path: path, madeComponentCount: 1)
    }

    private init(path: String, madeComponentCount: Int) {
        self.path = path
        self.madeComponentCount = madeComponentCount
    }

    /// The identifiers under which something is preserved, in no particular order.
    ///
    /// Reads each file, and compares its checksum. What is damaged, was saved by a newer version, or cannot be trusted is left
    /// out, and stays as it is. Where there is no directory, there are no identifiers.
    ///
    /// - Returns: The identifiers.
    /// - Throws: `RestorationError` when the directory cannot be read or trusted.
    public func identifiers() async throws(RestorationError) -> [String] {
        try await FileThread().run { () throws(RestorationError) in
            guard let directory = try TrustedDirectory(path: path) else { return [] }
            return try StateFileList(directory: directory).identifiers()
        }
    }

    /// Opens the record of an identifier, for this caller alone until it is closed.
    ///
    /// Makes the directory when it is missing, and removes what a program that was killed while it saved has left.
    ///
    /// - Parameter identifier: The identifier, of 1 to 4,096 bytes without U+0000. It does not have to be fit for a file
    ///   name.
    /// - Returns: The record.
    /// - Throws: `RestorationError` when the record is open already, in this process or in another one,
    ///   when no record can have the identifier, or when the directory cannot be used or trusted.
    public func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord {
        try RestorationRules.check(identifier: identifier)
        let thread = FileThread()
        let file = try await thread.run { () throws(RestorationError) in
            let directory = try TrustedDirectory(making: madeComponentCount, of: path)
            return try StateFile(identifier: identifier, in: directory)
        }
        return StateFileRecord(identifier: identifier, file: file, thread: thread)
    }
}
