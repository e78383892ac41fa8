internal import CPeripheralGLib
internal import Glibc

/// A system error number, saved before another call can change it.
struct SystemError: Equatable {
    let number: CInt

    static var last: SystemError { SystemError(number: errno) }

    /// The system's description of the error.
    var description: String {
        unsafe g_strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// Advice for a directory that cannot be read.
    var remedyForReading: String {
        switch number {
        case ENOTDIR: "choose the path of a directory, not of a file"
        case EACCES, EPERM: "allow the user of this program to read it, or choose another directory"
        case ELOOP: "correct the symbolic links in the path, or choose another directory"
        default: "check the directory and its file system, or choose another directory"
        }
    }

    /// Advice for a directory that cannot be created.
    ///
    /// - Parameter hasParent: Whether the directory that would contain it exists.
    /// - Returns: The advice.
    func remedyForCreating(hasParent: Bool) -> String {
        switch number {
        case ENOTDIR: "choose another path, because a part of this path is a file"
        case ENOENT where hasParent:
            "choose another directory, because its file system does not allow new directories there"
        case ENOENT: "create the directory that contains it, or choose another one"
        default: remedy
        }
    }

    /// Advice for a file or directory that cannot be written.
    var remedy: String {
        switch number {
        case ENOSPC, EDQUOT: "free some space on its file system"
        case EROFS: "mount its file system writable, or choose another directory"
        case EACCES, EPERM:
            "allow the user of this program to write there, or choose another directory"
        case ENOENT, ENOTDIR: "create the directory, or choose another one"
        default: "check the directory and its file system"
        }
    }
}
