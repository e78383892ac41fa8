internal import ArgumentParser

/// A time span in short form: `20s`, `5m`, `1h`.
package struct TimeLimit: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        guard let seconds = Self.units[argument.suffix(1)],
            let count = Int32(argument.dropLast()),
            count > 0
        else { return nil }
        duration = .seconds(Int64(count) * seconds)
    }

    private static let units: [Substring: Int64] = ["s": 1, "m": 60, "h": 3600]
}
