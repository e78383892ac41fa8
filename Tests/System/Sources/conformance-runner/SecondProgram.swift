import Glibc
import PeripheralBlueZ
import PeripheralTesting

@testable import PeripheralConformance
@testable import PeripheralKit

/// A second program on the same adapter, which serves the same declaration as a scenario.
///
/// It starts after the program of the scenario, so that a central finds that one's services first. It
/// advertises nothing: what the scenario hears is the other's. It is this program, started with other
/// arguments.
actor SecondProgram {
    private static let command = "--second-program"

    /// The scenarios that compare all services of the device with what one program declares.
    private static let ofAllServices = Set(
        [
            ConformanceSuite.databaseAsDeclared,
            ConformanceSuite.secondaryServiceIsIncluded,
            ConformanceSuite.primaryServicesAreIncluded,
            ConformanceSuite.instancesAreApart,
            ConformanceSuite.changedAdvertisement,
        ].map { (scenario: Scenario) in scenario.name }
    )

    /// How many have served, and how many were refused, such as one whose services are pinned where the
    /// others are.
    private(set) var (served, refused) = (0, 0)
    private var process: CrashTestProcess?

    /// The name of the scenario that this process serves as the second program; `nil` when it is not one.
    static func scenarioName(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[1] == command ? arguments[2] : nil
    }

    /// Serves the peripheral of a scenario until the process is killed.
    static func serve(_ scenario: Scenario) async {
        var peripheral = scenario.makeRun().peripheral
        peripheral.isSilentAtFirst = true
        let backend = BlueZBackend(recovery: .never)
        do {
            if peripheral.restorationIdentifier == nil {
                try await peripheral.run(on: backend) { _ in await serve() }
            } else {
                let store = InMemoryRestorationStore()
                try await peripheral.run(on: backend, restoringFrom: store) { _ in await serve() }
            }
        } catch {
            print("refused: \(error)")
        }
    }

    private static func serve() async {
        print("ready")
        fflush(nil)
        // It has no end of its own.
        for await _ in AsyncStream<Void>.makeStream().stream {}
    }

    /// Starts the second program again, and waits until it serves or is refused.
    ///
    /// A scenario with pairing has none: bluetoothd asks one program about all centrals. Nor has one that
    /// looks at all services of the device.
    func start(beside scenario: Scenario) async throws {
        stop()
        guard !Self.ofAllServices.contains(scenario.name) else { return }
        switch scenario.makeRun().peripheral.pairing.method {
        case .none, .system: break
        default: return
        }
        let process = try CrashTestProcess(
            path: "/proc/self/exe",
            arguments: [Self.command, scenario.name]
        )
        self.process = process
        for await line in process.lines {
            // Others are of the log.
            guard line == "ready" || line.hasPrefix("refused") else { continue }
            if line == "ready" {
                served += 1
            } else {
                refused += 1
                print("      the second program: \(line)")
            }
            return
        }
        refused += 1
    }

    func stop() {
        process?.kill()
        process = nil
    }
}
