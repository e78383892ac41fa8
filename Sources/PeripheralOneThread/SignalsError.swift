private import Glibc

/// An error that occurs when the program cannot receive signals.
///
/// Either the process or the machine has reached its limit on open files, or the system does not allow
/// programs to handle one of the signals.
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
        let remedy =
            number == EINVAL
            ? "Choose signals that a program can handle." : "Raise the limit of open files."
        return "The program cannot receive signals: \(reason). \(remedy)"
    }
}
