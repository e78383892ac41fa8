internal import Glibc
internal import PeripheralKit

extension TrustedDirectory {
    /// Locks an identifier by locking a file.
    ///
    /// The method creates the file if it is missing. The lock belongs to the open file, so the lock also
    /// excludes a second open file in the same process. The lock ends when the descriptor is closed or the
    /// process is killed. The file has no content. The file is never removed, because another process may be
    /// about to lock it.
    func lock(_ name: String, for identifier: String) throws(RestorationError) -> FileDescriptor {
        let file = try openLock(name, O_RDONLY)
        if try lock(file, name, for: identifier) { return file }
        let writable = try openLock(name, O_RDWR)
        guard try lock(writable, name, for: identifier) else {
            throw unusable(name, "locked", SystemError(number: EBADF))
        }
        return writable
    }

    /// Locks the file and returns whether it is now locked.
    ///
    /// Some file systems, such as NFS, lock only files that are open for writing. For any other file there,
    /// the result is `false`.
    ///
    /// On other file systems the file is open for reading only, for two reasons:
    ///
    /// - A file system cannot be remounted read-only while a file is open for writing.
    /// - State can be restored from a file system that is already read-only.
    private func lock(
        _ file: borrowing FileDescriptor,
        _ name: String,
        for identifier: String
    ) throws(RestorationError) -> Bool {
        if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return true }
        let error = SystemError.last
        switch error.number {
        case EWOULDBLOCK: throw RestorationRules.inUse(identifier)
        case EBADF: return false
        default: throw unusable(name, "locked", error)
        }
    }

    private func openLock(_ name: String, _ access: CInt) throws(RestorationError) -> FileDescriptor {
        let flags = access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = unsafe FileDescriptor(adopting: openat(descriptor.number, name, flags, 0o600))
        let error = SystemError.last
        guard let status = status(of: name) else { throw unusable(name, "created", error) }
        try check(status, of: name)
        guard file.number >= 0 else { throw unusable(name, "opened", error) }
        return file
    }

    private func unusable(_ name: String, _ attempt: String, _ error: SystemError) -> RestorationError {
        RestorationError(
            code: .unwritable,
            message:
                "The file \(path(of: name)) cannot be \(attempt): \(error.description). Remedy: \(error.remedy)."
        )
    }
}
