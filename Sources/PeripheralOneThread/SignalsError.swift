private import Glibc

/// An error that occurs when no file descriptor is available to receive signals.
///
/// The process or the machine has reached its limit on open files.
public struct SignalsError: Error, Sendable, CustomStringConvertible {
    private let number: CInt

    init(number: CInt) {
        self.number = number
    }

    /// An English description of the error, which includes the error message of the operating system.
    ///
    /// The locale of the process determines the language of the operating system's error message.
    public var description: String {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "The program cannot receive signals: \(reason). Raise the limit of open files."
    }
}
