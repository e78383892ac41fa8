internal import PeripheralKit

/// The notifications for a service manager.
///
/// Each notification is a list of assignments, one on each line, as `sd_notify(3)` describes.
struct ServiceReport {
    static let signOfLife = "WATCHDOG=1"

    private var isReady = false
    private var isStopping = false
    private var status: String?

    /// Records the state of the peripheral.
    ///
    /// - Returns: The notification to send; `nil` if nothing has changed.
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

    /// Records that the run ends.
    ///
    /// - Returns: The notification to send; `nil` if the end was recorded before.
    mutating func stop() -> String? {
        guard !isStopping else { return nil }
        isStopping = true
        return "STOPPING=1\nSTATUS=Withdrawing the peripheral."
    }

    private static func status(of state: PeripheralState) -> String {
        if let reason = state.reason {
            // A line break would begin another assignment.
            return String(reason.map { $0.isNewline ? " " : $0 })
        }
        return state.isOnAir ? "On the air." : "Coming on the air."
    }
}

extension PeripheralState {
    fileprivate var isOnAir: Bool { isRegistered && isAdvertising }
}
