import Glibc

/// An operation that failed on a file.
struct FileFailure: Error, Equatable, CustomStringConvertible {
    let operation: String
    let path: String
    let code: Int32

    /// Creates a failure with the code of `errno`.
    init(_ operation: String, _ path: String, code: Int32 = errno) {
        (self.operation, self.path, self.code) = (operation, path, code)
    }

    /// The status for the central.
    var answer: UploadAnswer { code == ENOSPC || code == EDQUOT ? .noSpace : .failed }

    var description: String {
        "Cannot \(operation) \(path): \(String(cString: strerror(code)))."
    }
}
