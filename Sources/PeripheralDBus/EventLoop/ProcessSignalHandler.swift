internal import Glibc
internal import Synchronization

/// The error that the system has reported because a program cannot receive a signal.
package struct ProcessSignalsUnavailable: Error {
    /// The number of the error, such as `EMFILE`.
    package let number: CInt
}

/// The handler of the process's signals, which writes the number of each signal to a socket pair.
///
/// The socket pair stays open until the process ends. Another thread may still run the handler after the
/// previous handler was restored. If the socket pair were closed, the handler could write to another file.
enum ProcessSignalHandler {
    private static let readEnd = Mutex<CInt?>(nil)

    /// Opens the socket pair, if it is not open yet.
    ///
    /// - Returns: The descriptor to read from, which does not block.
    static func open() throws(ProcessSignalsUnavailable) -> CInt {
        try readEnd.withLock { (readEnd) throws(ProcessSignalsUnavailable) in
            if let readEnd { return readEnd }
            var ends: [CInt] = [-1, -1]
            // The module Glibc does not contain pipe2.
            let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
                throw ProcessSignalsUnavailable(number: errno)
            }
            readEnd = ends[0]
            // This also initializes the variable, so that the handler never does.
            writeEnd.store(ends[1], ordering: .releasing)
            return ends[0]
        }
    }

    /// Handles a signal from now on.
    ///
    /// - Returns: The previous handling of the signal.
    static func install(for signal: CInt) throws(ProcessSignalsUnavailable) -> sigaction {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handle
        action.sa_flags = SA_RESTART
        var previous = sigaction()
        guard unsafe sigaction(signal, &action, &previous) == 0 else {
            throw ProcessSignalsUnavailable(number: errno)
        }
        return previous
    }

    /// Restores the previous handling of a signal.
    static func restore(_ previous: sigaction, for signal: CInt) {
        var previous = previous
        unsafe sigaction(signal, &previous, nil)
    }

    /// Returns the signals in the socket pair, in the order of their arrival.
    static func read(from descriptor: CInt) -> [CInt] {
        var signals: [CInt] = []
        var byte: UInt8 = 0
        while unsafe Glibc.read(descriptor, &byte, 1) == 1 { signals.append(CInt(byte)) }
        return signals
    }
}

/// The end of the socket pair that the handler writes to, or -1 before the socket pair is open.
private let writeEnd = Atomic<CInt>(-1)

/// Writes the number of a signal to the socket pair.
///
/// The function runs in the middle of other code. It therefore does not allocate memory and takes no lock. If
/// the socket pair is full of signals that the program has not read, the function drops the signal.
private func handle(_ signal: CInt) {
    let number = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = unsafe write(writeEnd.load(ordering: .acquiring), &byte, 1)
    errno = number
}
