internal import Glibc
internal import PeripheralKit

extension TrustedDirectory {
    /// Opens a file for reading.
    ///
    /// - Returns: The file and its size, or `nil` if there is no file.
    /// - Throws: `untrusted` when the file is not a regular file or another user could have written it, or
    ///   `unreadable`.
    func open(_ name: String) throws(RestorationError) -> OpenFile? {
        // Without O_NONBLOCK, opening a FIFO would block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let number = unsafe openat(descriptor.number, name, flags)
        guard number >= 0 else {
            let error = SystemError.last
            switch error.number {
            case ENOENT: return nil
            case ELOOP: throw untrusted(name, "is a symbolic link")
            case ENXIO: throw untrusted(name, "is not a regular file")
            default: throw unreadable(name, error)
            }
        }
        let descriptor = FileDescriptor(adopting: number)
        guard let status = descriptor.status() else { throw unreadable(name, .last) }
        try check(status, of: name)
        return OpenFile(name: name, descriptor: descriptor, size: Int(status.st_size))
    }

    /// Checks that no other user can have written a file.
    func check(_ status: stat, of name: String) throws(RestorationError) {
        guard status.isRegularFile else {
            throw untrusted(
                name,
                status.st_mode & S_IFMT == S_IFLNK ? "is a symbolic link" : "is not a regular file"
            )
        }
        guard status.isOwn else { throw untrusted(name, "belongs to another user, or others can write it") }
    }

    /// Reads at most the first `limit` bytes of a file.
    func read(_ file: borrowing OpenFile, limit: Int) throws(RestorationError) -> [UInt8] {
        var failure: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: min(limit, file.size)) { buffer, count in
            while count < buffer.count {
                let result = unsafe Glibc.read(
                    file.descriptor.number,
                    buffer.baseAddress?.advanced(by: count),
                    buffer.count - count
                )
                if result > 0 {
                    count += result
                } else if result == 0 {
                    return
                } else if errno != EINTR {
                    failure = .last
                    return
                }
            }
        }
        if let failure { throw unreadable(file.name, failure) }
        return bytes
    }

    private func untrusted(_ name: String, _ reason: String) -> RestorationError {
        RestorationError(
            code: .untrusted,
            message: "The file \(path(of: name)) is not trusted, because the file \(reason). Remove the file."
        )
    }

    private func unreadable(_ name: String, _ error: SystemError) -> RestorationError {
        RestorationError(
            code: .unreadable,
            message: "The file \(path(of: name)) cannot be read: \(error.description). "
                + "Check the permissions and the file system of the file."
        )
    }
}

/// A file that is open for reading, and its size at the time of opening.
struct OpenFile: ~Copyable {
    let name: String
    let descriptor: FileDescriptor
    let size: Int
}
