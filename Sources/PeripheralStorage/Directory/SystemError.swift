internal import CPeripheralGLib
internal import Glibc

/// An error number of the system, taken before another call can change it.
struct SystemError: Equatable {
    let number: CInt

    static var last: SystemError { SystemError(number: errno) }

    /// The system's words for it.
    var description: String {
        unsafe g_strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// What a person can do about a file or directory that cannot be written.
    var remedy: String {
        switch number {
        case ENOSPC, EDQUOT: "free some space on its file system"
        case EROFS: "mount its file system writable, or choose another directory"
        case EACCES, EPERM:
            "give the user of this program the right to write there, or choose another directory"
        case ENOENT, ENOTDIR: "make the directory, or choose another one"
        default: "check the directory and its file system"
        }
    }
}
