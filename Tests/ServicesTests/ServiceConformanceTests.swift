import Glibc
import PeripheralConformance
import PeripheralKit
import PeripheralServiceConformance
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServiceConformanceTests {
    @Test(arguments: ServiceConformance.scenarios)
    func inMemory(scenario: Scenario) async throws {
        let backend = InMemoryBackend()
        try await scenario.run(on: backend, logger: .silent, clock: ManualClock()) { peripheral in
            backend.makeCentral(of: peripheral)
        }
    }

    /// The reports of a keyboard, for example, have one UUID, but each has a Report Reference.
    @Test(arguments: ServiceConformance.scenarios)
    func validationReportsNoMistake(scenario: Scenario) {
        let reasons = scenario.makeRun().peripheral.validate().map(\.reason)
        #expect(reasons.filter { $0.contains("have this UUID") || $0.contains("no characteristics") } == [])
    }

    @Test func everyScenarioHasItsOwnName() {
        let names = ServiceConformance.scenarios.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isDisjoint(with: ConformanceSuite.scenarios.map(\.name)))
    }

    /// What services share has no scenario of its own, and the indoor bike is the machine of the Fitness
    /// Machine's.
    @Test func everyServiceHasAScenario() throws {
        let others: Set = ["Conformance", "IndoorBike", "RecordAccess", "SensorControl", "SensorLocation"]
        let folders = try Set(Self.servicesFolders())
        #expect(others.isSubset(of: folders))
        let names = ServiceConformance.scenarios.map { String($0.name.prefix { $0 != ":" }) }
        #expect(Set(names) == folders.subtracting(others))
    }

    /// The names of the folders of `Services`.
    private static func servicesFolders() throws -> [String] {
        let file = try #require(realpath(#filePath, nil))
        defer { free(file) }
        let tree = String(cString: file).split(separator: "/").dropLast(3).joined(separator: "/")
        let listing = try #require(opendir("/\(tree)/Services"))
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.contains(".") { names.append(name) }
        }
        return names
    }
}
