import ExampleSupport
import PeripheralImmediateAlert

/// A buzzer, simulated by the terminal's bell.
final class Buzzer: Sendable {
    private let (sounded, ring) = AsyncStream.makeStream(
        of: AlertLevel.self,
        bufferingPolicy: .bufferingNewest(8)
    )

    /// Sounds at a level, in place of the previous one.
    func sound(_ level: AlertLevel, since reason: String) {
        let bell = Terminal.size == nil ? "" : "\u{7}"
        switch level {
        case .none: Terminal.print("keys:  silent: \(reason)")
        case .mild: Terminal.print("keys:  beep\(bell): \(reason)")
        case .high: Terminal.print("keys:  BEEP BEEP BEEP\(bell): \(reason)")
        }
        ring.yield(level)
    }

    /// Returns when it sounds at a level, or has done so since the last call.
    func wait(for level: AlertLevel) async {
        for await sounded in sounded where sounded == level { return }
    }
}
