internal import Glibc

/// An open file, which is closed when this value is destroyed.
struct FileDescriptor: ~Copyable, Sendable {
    let number: CInt

    /// Takes ownership of a descriptor.
    ///
    /// No other code may close it. A negative number stands for no descriptor.
    init(adopting number: CInt) {
        self.number = number
    }

    deinit {
        if number >= 0 { _ = close(number) }
    }

    func status() -> stat? {
        var status = stat()
        return unsafe fstat(number, &status) == 0 ? status : nil
    }
}

extension stat {
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }

    /// Whether only the user of this process and root could have changed the file.
    var isOwn: Bool { reasonForDistrust == nil }

    /// The reason why another user could have changed the file; `nil` if only the user of this process and
    /// root could have.
    var reasonForDistrust: String? {
        if st_uid != geteuid() {
            return "it belongs to the user with the number \(st_uid), but the program runs as \(geteuid())"
        }
        guard st_mode & (S_IWGRP | S_IWOTH) != 0 else { return nil }
        let mode = String(st_mode & 0o7777, radix: 8)
        return "other users can write to it, because it has the mode 0\(mode)"
    }

    func isSameFile(as other: stat) -> Bool {
        st_dev == other.st_dev && st_ino == other.st_ino
    }
}
