internal import Glibc

/// An open file, closed with its owner.
struct FileDescriptor: ~Copyable, Sendable {
    let number: CInt

    /// Takes over a descriptor, which nobody else may close from here on; a negative number is none.
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

    /// Whether nobody but the user of this process, and root, could have changed it.
    var isOwn: Bool { st_uid == geteuid() && st_mode & (S_IWGRP | S_IWOTH) == 0 }

    func isSameFile(as other: stat) -> Bool {
        st_dev == other.st_dev && st_ino == other.st_ino
    }
}
