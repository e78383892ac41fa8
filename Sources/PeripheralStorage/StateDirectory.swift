public import PeripheralKit

/// A store that saves each peripheral's state in a separate file of a directory.
///
/// ```swift
/// let store = try StateDirectory()
/// ```
///
/// Each state file is a key file of GLib. Desktop entries in Linux are also key files. A state file
/// contains the preserved state, the restoration identifier of the peripheral, and a checksum.
///
/// To save a state, the store writes a complete temporary file, flushes the temporary file to the disk, and
/// renames the temporary file to the name of the state file. After a crash during a save, either the complete
/// old state file or the complete new state file exists.
///
/// While a process has a record open, other processes cannot open the same record. When the process ends or
/// is killed, the kernel unlocks the record.
///
/// The store does not trust the files in the directory. The store refuses to read the following files:
///
/// - files that other users are allowed to modify
/// - symbolic links, because the store never follows symbolic links
/// - files with an incorrect checksum
///
/// State files have the file mode 0600. If the store creates the directory, the directory has the mode 0700.
///
/// The store performs all file operations on separate threads. Each thread ends when its file operations are
/// complete.
public struct StateDirectory: RestorationStore {
    /// The maximum size of a state file in bytes.
    public static let maximumFileSize = StateFileFormat.maximumSize

    /// The path of the state directory.
    public let path: String

    /// The number of trailing path components that are created if they are missing.
    private let madeComponentCount: Int

    /// Creates a store in the standard state directory of the program.
    ///
    /// The path of the directory depends on environment variables. Each path in the following list begins
    /// with an environment variable. The initializer skips paths with unset variables, and uses the first
    /// remaining path. `NAME` stands for the name of the program. The initializer does not create or read any
    /// file.
    ///
    /// 1. `$STATE_DIRECTORY`, which systemd sets for a service with the setting `StateDirectory=`. If
    ///    `$STATE_DIRECTORY` lists several directories, the initializer uses the first directory.
    /// 2. `$XDG_STATE_HOME/NAME`.
    /// 3. `$HOME/.local/state/NAME`.
    ///
    /// - Throws: `RestorationError` when none of the environment variables is set.
    public init() throws(RestorationError) {
        let location = try StateLocation(
            environment: StateLocation.processEnvironment,
            programName: StateLocation.programName
        )
        self.init(path: location.path, madeComponentCount: location.madeComponentCount)
    }

    /// Creates a store in the directory at the given path.
    ///
    /// If the directory does not exist, the store creates the directory. The parent of the directory must
    /// exist.
    ///
    /// - Parameter path: The path of the directory, which may contain symbolic links. The user that runs the
    ///   program must own the directory. Other users must not have write permission for the directory.
    public init(path: String) {
        self.init(path: path, madeComponentCount: 1)
    }

    private init(path: String, madeComponentCount: Int) {
        self.path = path
        self.madeComponentCount = madeComponentCount
    }

    /// Returns the restoration identifiers that have a preserved state, in no particular order.
    ///
    /// The method reads each state file and verifies its checksum. The result does not contain the
    /// identifiers of the following files:
    ///
    /// - damaged files
    /// - files that a newer version of the framework saved
    /// - files that the store does not trust
    ///
    /// The method does not change these files. If the directory does not exist, the method returns an empty
    /// array.
    ///
    /// - Returns: The restoration identifiers.
    /// - Throws: `RestorationError` when the store cannot read the directory or does not trust the directory.
    public func identifiers() async throws(RestorationError) -> [String] {
        try await FileThread().run { () throws(RestorationError) in
            guard let directory = try TrustedDirectory(path: path) else { return [] }
            return try StateFileList(directory: directory).identifiers()
        }
    }

    /// Opens the record of a restoration identifier, and locks the record until it is closed.
    ///
    /// If the directory does not exist, the method creates the directory. If a program was killed during a
    /// save, the method removes the temporary files of that save.
    ///
    /// - Parameter identifier: The restoration identifier, which has 1 to 4,096 bytes and does not contain
    ///   U+0000. A restoration identifier does not have to be a valid file name.
    /// - Returns: The record.
    /// - Throws: `RestorationError` in each of the following cases:
    ///   - The record is already open in the same process or in another process.
    ///   - The restoration identifier is not valid.
    ///   - The store cannot use the directory or does not trust the directory.
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
