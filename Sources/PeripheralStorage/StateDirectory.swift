public import PeripheralKit

/// A directory that holds the preserved state of peripherals, with one file for each peripheral.
///
/// ```swift
/// let store = try StateDirectory()
/// ```
///
/// Each file is a key file, the format of desktop and system services. Besides the state, the file contains
/// the identifier and a checksum.
///
/// A save writes a complete temporary file, flushes it to the disk and moves it to the path of the state
/// file. After a crash, either the old file or the new file exists.
///
/// A lock protects an open record against other processes. The lock ends with the process, even if the
/// process is killed.
///
/// The store does not trust the content of the directory. The store refuses these files:
///
/// - files that other users could have written
/// - symbolic links, which the store never follows
/// - files whose content has changed since it was saved
///
/// Files have the mode 0600. A directory that the store creates has the mode 0700. All file operations run on
/// separate threads. A thread ends when its work is complete.
public struct StateDirectory: RestorationStore {
    /// The maximum size of a file that is read or written, in bytes.
    public static let maximumFileSize = StateFileFormat.maximumSize

    /// The path of the directory.
    public let path: String

    /// The number of trailing path components that are created if they are missing.
    private let madeComponentCount: Int

    /// Uses the standard directory for the state of this program.
    ///
    /// The standard directory is the first directory in this list whose variable is set. The initializer does
    /// not create or read any file.
    ///
    /// 1. `$STATE_DIRECTORY`, which systemd sets for a service with `StateDirectory=`. If the variable lists
    ///    several directories, the first directory is used.
    /// 2. `$XDG_STATE_HOME/NAME`, where `NAME` is the name of the program.
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

    /// Uses the directory at a path.
    ///
    /// The store creates the directory if it is missing. The parent directory must exist.
    ///
    /// - Parameter path: The path, which may contain symbolic links. The directory must belong to the user of
    ///   the program, and no other user may write to it.
    public init(path: String) {
        self.init(path: path, madeComponentCount: 1)
    }

    private init(path: String, madeComponentCount: Int) {
        self.path = path
        self.madeComponentCount = madeComponentCount
    }

    /// Returns the identifiers with preserved state, in no particular order.
    ///
    /// The method reads each file and compares its checksum. The method omits files that are damaged, that a
    /// newer version saved, or that cannot be trusted. The method does not change these files. If the
    /// directory does not exist, the result is empty.
    ///
    /// - Returns: The identifiers.
    /// - Throws: `RestorationError` when the directory cannot be read or trusted.
    public func identifiers() async throws(RestorationError) -> [String] {
        try await FileThread().run { () throws(RestorationError) in
            guard let directory = try TrustedDirectory(path: path) else { return [] }
            return try StateFileList(directory: directory).identifiers()
        }
    }

    /// Opens the record of an identifier for exclusive use until the record is closed.
    ///
    /// The method creates the directory if it is missing. The method also removes temporary files of a
    /// program that was killed during a save.
    ///
    /// - Parameter identifier: The identifier, with 1 to 4,096 bytes and without U+0000. The identifier does
    ///   not have to be a valid file name.
    /// - Returns: The record.
    /// - Throws: `RestorationError` in these cases:
    ///   - The record is already open, in this process or in another process.
    ///   - The identifier is not valid.
    ///   - The directory cannot be used or trusted.
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
