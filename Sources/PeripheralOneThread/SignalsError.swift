private import Glibc

/// An error that occurs when no file descriptor is available to receive signals.
///
/// The process or the machine has reached its limit on open files.
public struct SignalsError: Error, Sendable, CustomStringConvertible {
    private let number: CInt

    init(number: CInt) {
        self.number = number
    }

    /// The description of the error in English, with the error message of the system.
    ///
    /// Depending on the locale of the process, the error message of the system can be in another language.
    public var description: String {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "The program cannot receive signals: \(reason). Raise the limit of open files."
    }
}
