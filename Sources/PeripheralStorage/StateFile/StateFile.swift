internal import CPeripheralGLib
internal import Glibc
internal import PeripheralKit

/// The file of one identifier, locked until ``unlock()`` or until this object is released.
///
/// The methods of the state file block. Call one method at a time.
final class StateFile: Sendable {
    /// The number of set-aside files that are kept.
    static let keptAside = 3

    private let identifier: String
    private let name: StateFileName
    private let directory: TrustedDirectory
    private let version: Int
    private let lock: FileDescriptor

    private enum SavedState {
        case missing
        case version(Int)
        /// The file does not contain a valid state, or the store currently cannot read the file.
        case unknown
    }

    /// Locks the identifier and finds the state of this version.
    ///
    /// - Parameters:
    ///   - identifier: The identifier.
    ///   - directory: The directory of its files.
    ///   - version: The newest version that is read.
    /// - Throws: When the identifier is already locked, or the directory cannot be used.
    init(
        identifier: String,
        in directory: TrustedDirectory,
        version: Int = StateFileFormat.version
    ) throws(RestorationError) {
        let name = StateFileName(identifier: identifier)
        lock = try directory.lock(name.lock, for: identifier)
        self.identifier = identifier
        self.name = name
        self.directory = directory
        self.version = version
        for entry in try directory.names() where name.isTemporary(entry) {
            directory.remove(entry)
        }
        switch savedState() {
        case .missing: try bringBackOwnState(from: nil)
        case .version(let found) where found <= version: try bringBackOwnState(from: found)
        // A state of a newer version, or an unreadable state, is reported when it is loaded.
        case .version, .unknown: break
        }
    }

    deinit { unlock() }

    func load() throws(RestorationError) -> RestorationState? {
        guard let file = try directory.open(name.state) else { return nil }
        guard file.size <= StateFileFormat.maximumSize else {
            throw RestorationError(
                code: .tooLarge,
                message:
                    "The state of \"\(identifier)\" in \(directory.path(of: name.state)) is not read: it has "
                    + "\(file.size) bytes, and the limit is \(StateFileFormat.maximumSize). Another program wrote the "
                    + "file; remove it."
            )
        }
        let bytes = try directory.read(file, limit: StateFileFormat.maximumSize)
        return try StateFileFormat.restorationState(in: bytes, of: identifier, upTo: version)
    }

    func save(_ restorationState: RestorationState) throws(RestorationError) {
        let text = try StateFileFormat.text(of: restorationState, identifier: identifier)
        try prepareToReplace()
        var error: UnsafeMutablePointer<GError>?
        let isSaved = unsafe text.withUnsafeBytes { text in
            unsafe g_file_set_contents_full(
                directory.path(of: name.state),
                text.baseAddress?.assumingMemoryBound(to: gchar.self),
                gssize(text.count),
                peripheral_file_flags,
                0o600,
                &error
            )
        }
        guard isSaved == 0 else { return }
        defer { unsafe g_clear_error(&error) }
        throw unwritable(
            unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? "unknown",
            remedy: unsafe error.map { unsafe SystemError(fileErrorCode: $0.pointee.code).remedy } ?? ""
        )
    }

    /// Moves the file, whatever its content, to the next free name.
    func setAside() throws(RestorationError) -> String? {
        try setAside(name.state)
    }

    /// Moves the file to the name for a newer version.
    ///
    /// The state that this version saved earlier, if any, becomes the current state again.
    func setAside(forVersion version: Int) throws(RestorationError) -> String? {
        let path = try move(toVersion: version)
        try bringBackOwnState(from: nil)
        return path
    }

    /// Removes the state, and the copies that were set aside or that other versions saved.
    ///
    /// The state is removed last. If the program is killed earlier, no copy takes the place of the state.
    func erase() throws(RestorationError) {
        for entry in try directory.names() where name.isCopy(entry) { try remove(entry) }
        try remove(name.state)
        _ = fsync(directory.descriptor.number)
    }

    private func remove(_ file: String) throws(RestorationError) {
        guard let error = directory.remove(file) else { return }
        throw RestorationError(
            code: .unwritable,
            message: "The state of \"\(identifier)\" cannot be erased, because the file "
                + "\(directory.path(of: file)) cannot be removed: \(error.description). Remedy: \(error.remedy)."
        )
    }

    /// Unlocks the identifier.
    ///
    /// No other method may be called afterwards.
    func unlock() {
        // Closing the descriptor is not enough: a child process also holds it between fork and exec.
        _ = flock(lock.number, LOCK_UN)
    }

    /// Ensures that GLib replaces the right file with a file that other users cannot read.
    ///
    /// GLib uses the path and may keep the permissions of an existing file.
    private func prepareToReplace() throws(RestorationError) {
        guard directory.isInPlace else {
            throw unwritable(
                "the directory \(directory.path) was moved, removed or replaced",
                remedy: "do not move the directory while the program runs"
            )
        }
        guard let status = directory.status(of: name.state) else { return }
        try directory.check(status, of: name.state)
        if status.st_mode & 0o777 != 0o600 {
            _ = unsafe fchmodat(directory.descriptor.number, name.state, 0o600, 0)
        }
    }

    private func setAside(_ file: String) throws(RestorationError) -> String? {
        guard exists(file) else { return nil }
        let numbers = try directory.names().compactMap { name.numberSetAside($0) }.sorted()
        let target = name.setAside((numbers.last ?? 0) + 1)
        try move(file, to: target)
        for number in numbers.dropLast(Self.keptAside - 1) {
            directory.remove(name.setAside(number))
        }
        return directory.path(of: target)
    }

    /// Moves the state to the name for a version.
    ///
    /// An existing file with that name is set aside.
    private func move(toVersion version: Int) throws(RestorationError) -> String? {
        guard exists(name.state) else { return nil }
        let target = name.state(ofVersion: version)
        _ = try setAside(target)
        try move(name.state, to: target)
        return directory.path(of: target)
    }

    /// Restores the earlier state of this version as the current state.
    ///
    /// The state that version `other` has saved since then stays available to that version.
    private func bringBackOwnState(from other: Int?) throws(RestorationError) {
        let own = name.state(ofVersion: version)
        guard exists(own) else { return }
        if let other { _ = try move(toVersion: other) } else { _ = try setAside() }
        try move(own, to: name.state)
    }

    private func savedState() -> SavedState {
        do throws(RestorationError) {
            guard let file = try directory.open(name.state) else { return .missing }
            let start = try directory.read(file, limit: StateFileFormat.maximumHeaderLength)
            return StateFileFormat.version(atStartOf: start).map { SavedState.version($0) } ?? .unknown
        } catch {
            return .unknown
        }
    }

    private func exists(_ file: String) -> Bool { directory.status(of: file) != nil }

    private func move(_ file: String, to target: String) throws(RestorationError) {
        let number = directory.descriptor.number
        guard unsafe renameat(number, file, number, target) == 0 else {
            let error = SystemError.last
            throw unwritable(
                "the file cannot be renamed to \(target): \(error.description)",
                remedy: error.remedy
            )
        }
        _ = fsync(number)
    }

    private func unwritable(_ reason: String, remedy: String) -> RestorationError {
        RestorationError(
            code: .unwritable,
            message: "The state of \"\(identifier)\" cannot be written: \(reason). "
                + "The state preserved before is unchanged; \(remedy)."
        )
    }
}

extension SystemError {
    /// Converts an error that GLib reports for a file operation.
    fileprivate init(fileErrorCode code: gint) {
        let numbers: [(GFileError, CInt)] = [
            (G_FILE_ERROR_NOSPC, ENOSPC), (G_FILE_ERROR_ROFS, EROFS), (G_FILE_ERROR_ACCES, EACCES),
            (G_FILE_ERROR_PERM, EPERM), (G_FILE_ERROR_NOENT, ENOENT),
        ]
        number = numbers.first { Int($0.0.rawValue) == Int(code) }?.1 ?? EIO
    }
}
