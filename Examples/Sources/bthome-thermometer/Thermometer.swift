import ExampleSupport
import Synchronization

/// The temperature of this device's processor, or a simulated one if the kernel does not report it.
final class Thermometer: Sendable {
    private static let file = "/sys/class/thermal/thermal_zone0/temp"
    private let simulated = Mutex(20.0)

    /// A description of the source.
    var source: String {
        SystemFiles.number(Self.file) == nil
            ? "The kernel reports no temperature, so it is simulated."
            : "The temperature is that of this device's processor."
    }

    /// Returns the current temperature.
    ///
    /// A simulated temperature rises with each call.
    func celsius() -> Double {
        if let thousandths = SystemFiles.number(Self.file) { return Double(thousandths) / 1000 }
        return simulated.withLock { celsius in
            celsius = celsius < 25 ? celsius + 0.25 : 20
            return celsius
        }
    }
}
