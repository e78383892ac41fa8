import PeripheralBlueZ
import PeripheralConformance
import PeripheralDBus
import PeripheralTesting

/// The program that is killed: a peripheral on a bus, with its state in a directory.
@main
struct CrashTestHelper {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let milliseconds = Int(arguments[3]) else {
            fatalError("usage: crash-test-helper BUS-ADDRESS STATE-DIRECTORY MILLISECONDS-BETWEEN-SAVES")
        }
        try await CrashTestPeripheral.runAsProcess(
            on: BlueZBackend(bus: .address(arguments[1])),
            restoringFrom: StateDirectory(path: arguments[2]),
            savingEvery: .milliseconds(milliseconds)
        )
    }
}
