internal import Glibc
internal import PeripheralKit

/// An open directory that only the user of this process and root can write.
///
/// All files are opened relative to its descriptor, by names without a slash. No file outside the directory
/// is reachable.
final class TrustedDirectory: Sendable {
    /// The path without symbolic links.
    let path: String
    let descriptor: FileDescriptor

    /// Opens a directory.
    ///
    /// Returns `nil` if it does not exist.
    convenience init?(path: String) throws(RestorationError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError.last
            if error.number == ENOENT { return nil }
            throw Self.unreadable(path, error)
        }
        try self.init(path: path, adopting: FileDescriptor(adopting: descriptor))
    }

    /// Opens a directory.
    ///
    /// The initializer creates the directory and up to `count - 1` of its ancestors if they are missing.
    convenience init(making count: Int, of path: String) throws(RestorationError) {
        for ancestor in Self.ancestors(of: path, count: count) {
            guard unsafe mkdir(ancestor, 0o700) != 0 else {
                Self.keep(ancestor)
                continue
            }
            let error = SystemError.last
            // If the directory may already exist, opening it reports any other problem.
            guard unsafe error.number == EEXIST || access(ancestor, F_OK) == 0 else {
                let remedy = error.remedyForCreating(hasParent: Self.hasParent(ancestor))
                throw RestorationError(
                    code: .unwritable,
                    message: "The directory \(ancestor) cannot be created: \(error.description). "
                        + "Remedy: \(remedy)."
                )
            }
        }
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, .last) }
        try self.init(path: path, adopting: FileDescriptor(adopting: descriptor))
    }

    private init(path: String, adopting descriptor: consuming FileDescriptor) throws(RestorationError) {
        guard let status = descriptor.status(), let resolved = unsafe realpath(path, nil) else {
            throw Self.unreadable(path, .last)
        }
        defer { unsafe free(resolved) }
        self.path = unsafe String(cString: resolved)
        self.descriptor = descriptor
        if let reason = status.reasonForDistrust {
            throw RestorationError(
                code: .untrusted,
                message: "The directory \(path) cannot be trusted: \(reason). "
                    + "Use a directory that only the user of this program can use (mode 0700)."
            )
        }
    }

    /// Whether the path still leads to this directory.
    var isInPlace: Bool {
        var named = stat()
        guard unsafe stat(path, &named) == 0, let own = descriptor.status() else { return false }
        return own.isSameFile(as: named)
    }

    /// Returns the path of a file in the directory.
    func path(of name: String) -> String {
        "\(path)/\(name)"
    }

    /// Returns the status of a file, or `nil` if the file does not exist.
    ///
    /// The method does not follow symbolic links.
    func status(of name: String) -> stat? {
        var status = stat()
        return unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Returns the names of at most `limit` files in the directory.
    func names(limit: Int = 10_000) throws(RestorationError) -> [String] {
        // A separate descriptor, because reading a directory moves the position of the descriptor.
        let own = unsafe openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw Self.unreadable(path, .last) }
        guard let listing = unsafe fdopendir(own) else {
            let error = SystemError.last
            _ = close(own)
            throw Self.unreadable(path, error)
        }
        defer { unsafe closedir(listing) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file or an empty directory.
    ///
    /// The method has no effect if neither exists.
    ///
    /// - Returns: The error if the file still exists.
    @discardableResult
    func remove(_ name: String) -> SystemError? {
        guard unsafe unlinkat(descriptor.number, name, 0) != 0 else { return nil }
        let error = SystemError.last
        guard error.number != ENOENT else { return nil }
        guard error.number == EISDIR, unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) == 0 else {
            return error.number == EISDIR ? .last : error
        }
        return nil
    }

    /// Flushes the entry of a new directory to the disk, so that the directory survives a system crash.
    private static func keep(_ path: String) {
        let parent = unsafe FileDescriptor(
            adopting: Glibc.open(path + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        )
        _ = fsync(parent.number)
    }

    /// Whether the directory that contains a path exists.
    private static func hasParent(_ path: String) -> Bool {
        let paths = ancestors(of: path, count: 2)
        // A path without a parent in it is in the root directory or in the current directory.
        return unsafe paths.count < 2 || access(paths[0], F_OK) == 0
    }

    private static func ancestors(of path: String, count: Int) -> [String] {
        var rest = Substring(path)
        var ancestors: [String] = []
        while ancestors.count < count {
            while rest.count > 1, rest.last == "/" { rest.removeLast() }
            guard !rest.isEmpty, rest != "/" else { break }
            ancestors.insert(String(rest), at: 0)
            guard let slash = rest.lastIndex(of: "/") else { break }
            rest = rest[...slash]
        }
        return ancestors
    }

    private static func unreadable(_ path: String, _ error: SystemError) -> RestorationError {
        RestorationError(
            code: .unreadable,
            message: "The directory \(path) cannot be read: \(error.description). "
                + "Remedy: \(error.remedyForReading)."
        )
    }
}
