internal import PeripheralKit

/// What a service manager is told, and when: assignments, a line each, as `sd_notify(3)` describes them.
struct ServiceReport {
    static let signOfLife = "WATCHDOG=1"

    private var isReady = false
    private var isStopping = false
    private var status: String?

    /// Takes note of how the peripheral does.
    ///
    /// - Returns: What to tell; `nil` when that is known.
    mutating func note(_ state: PeripheralState) -> String? {
        guard !isStopping else { return nil }
        var lines: [String] = []
        if !isReady, state.isOnAir || state.reason != nil {
            isReady = true
            lines.append("READY=1")
        }
        let status = Self.status(of: state)
        if status != self.status {
            self.status = status
            lines.append("STATUS=\(status)")
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// Takes note of the end.
    ///
    /// - Returns: What to tell; `nil` when that is known.
    mutating func stop() -> String? {
        guard !isStopping else { return nil }
        isStopping = true
        return "STOPPING=1\nSTATUS=Withdrawing the peripheral."
    }

    private static func status(of state: PeripheralState) -> String {
        if let reason = state.reason {
            // A line each: what stands behind a line's end would be another assignment.
            return String(reason.map { $0.isNewline ? " " : $0 })
        }
        return state.isOnAir ? "On the air." : "Coming on the air."
    }
}

extension PeripheralState {
    fileprivate var isOnAir: Bool { isRegistered && isAdvertising }
}
