private import Glibc

/// Why a program cannot be told of signals: the process or the machine has no file descriptor left.
public struct SignalsError: Error, Sendable, CustomStringConvertible {
    private let number: CInt

    init(number: CInt) {
        self.number = number
    }

    /// What the system says, in English or the language of the process.
    public var description: String {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "The program cannot be told of signals: \(reason)."
    }
}
