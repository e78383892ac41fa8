import ExampleSupport
import PeripheralImmediateAlert

/// What stands for the buzzer: the terminal's bell.
final class Buzzer: Sendable {
    private let (sounded, ring) = AsyncStream.makeStream(
        of: AlertLevel.self,
        bufferingPolicy: .bufferingNewest(8)
    )

    /// Sounds at a level, in place of the one before.
    func sound(_ level: AlertLevel, since reason: String) {
        let bell = Terminal.size == nil ? "" : "\u{7}"
        switch level {
        case .none: Terminal.print("keys:  silent, since \(reason)")
        case .mild: Terminal.print("keys:  beep\(bell), since \(reason)")
        case .high: Terminal.print("keys:  BEEP BEEP BEEP\(bell), since \(reason)")
        }
        ring.yield(level)
    }

    /// Returns when it sounds at a level, or has since the last call.
    func wait(for level: AlertLevel) async {
        for await sounded in sounded where sounded == level { return }
    }
}
