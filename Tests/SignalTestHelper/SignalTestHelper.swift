import Glibc
import PeripheralBlueZ
import PeripheralDBus
import PeripheralKit

/// An ordinary program whose peripheral a signal stops.
@main
struct SignalTestHelper {
    static func main() async throws {
        // A program that hangs fails the test, and does not hold it up.
        alarm(45)
        try await StoppedPeripheral.run(on: BlueZBackend(bus: .address(CommandLine.arguments[1])))
    }
}
