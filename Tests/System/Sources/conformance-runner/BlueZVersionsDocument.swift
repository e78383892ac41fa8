import PeripheralConformance
import PeripheralTesting

/// The table of known differences in the article "Limits of BlueZ by version".
let bluezVersionsDocument = """
    | Scenario that fails | In BlueZ | What happens instead | Why |
    |---|---|---|---|
    \((ConformanceSuite.knownDifferences + [.killedProgram, .hastySubscriber]).map(\.row).joined(separator: "\n"))

    """

extension KnownDifference {
    fileprivate var row: String {
        "| \(scenario) | \(versions) | \(failure) | \(reason) |"
    }
}
