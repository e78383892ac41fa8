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
    var isOwn: Bool { st_uid == geteuid() && st_mode & (S_IWGRP | S_IWOTH) == 0 }

    func isSameFile(as other: stat) -> Bool {
        st_dev == other.st_dev && st_ino == other.st_ino
    }
}
