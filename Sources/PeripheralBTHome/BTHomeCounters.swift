private import Synchronization

/// The counters of encrypted packets, of which none is used twice.
///
/// A counter is used only after a later counter was stored, from which the next start of the program
/// continues.
final class BTHomeCounters: Sendable {
    private struct State {
        var next: UInt32
        /// The first counter that is not reserved.
        var reserved: UInt32
    }

    /// The number of counters that are reserved together.
    private static let reservation: UInt32 = 256

    private let reserve: @Sendable (_ next: UInt32) throws -> Void
    private let state: Mutex<State>

    init(from first: UInt32, reserve: @escaping @Sendable (_ next: UInt32) throws -> Void) {
        self.reserve = reserve
        state = Mutex(State(next: first, reserved: first))
    }

    /// Returns a counter that was never used.
    ///
    /// - Throws: The error of `reserve`, or `BTHomeError` after the last counter.
    func next() throws -> UInt32 {
        try state.withLock { state in
            guard state.next < .max else {
                throw BTHomeError(message: "All counters of the key are used. Choose another key.")
            }
            if state.next == state.reserved {
                let (sum, overflows) = state.next.addingReportingOverflow(Self.reservation)
                let end = overflows ? .max : sum
                try reserve(end)
                state.reserved = end
            }
            defer { state.next += 1 }
            return state.next
        }
    }
}
