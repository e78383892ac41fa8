import Synchronization

/// A simulated thermometer.
final class Thermometer: Sendable {
    private let hundredths = Mutex<Int16>(2_000)

    /// The temperature that was measured last, in hundredths of a degree Celsius.
    var value: Int16 { hundredths.withLock(\.self) }

    /// Measures again.
    func measure() -> Int16 {
        hundredths.withLock { hundredths in
            hundredths = min(max(hundredths + Int16.random(in: -20...20), 1_500), 2_500)
            return hundredths
        }
    }
}
