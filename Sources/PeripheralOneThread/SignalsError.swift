private import Glibc

/// The reason why signals cannot be received: no file descriptor is available.
///
/// The process or the machine has reached its limit.
public struct SignalsError: Error, Sendable, CustomStringConvertible {
    private let number: CInt

    init(number: CInt) {
        self.number = number
    }

    /// The failure in English, with the system's reason.
    ///
    /// The reason can be in the language of the process.
    public var description: String {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "The program cannot receive signals: \(reason). Raise the limit of open files."
    }
}
