/// A range of intervals that the kernel uses, after the settings of bluetoothd.
struct IntervalRange {
    /// The shortest and the longest interval, in units of the controller.
    ///
    /// The shortest interval can be greater than the longest, because bluetoothd does not compare the two.
    let shortest, longest: Int
    /// The lines that bluetoothd ignores, such as `MinAdvertisementInterval = fast`.
    let ignored: [String]
    /// Whether the file contains both limits, with other values than the kernel's.
    let isChosen: Bool
    private let unit: Int

    /// Reads a range.
    ///
    /// - Parameters:
    ///   - minimum: The setting of the shortest interval.
    ///   - maximum: The setting of the longest interval.
    ///   - standard: The range of the kernel, which applies without a valid setting.
    ///   - unit: The unit in microseconds.
    ///   - settings: The settings of bluetoothd.
    init(
        _ minimum: Setting,
        _ maximum: Setting,
        standard: ClosedRange<Int>,
        unit: Int,
        in settings: DaemonSettings
    ) {
        let (least, most) = (settings.interval(minimum), settings.interval(maximum))
        shortest = least ?? standard.lowerBound
        longest = most ?? standard.upperBound
        isChosen =
            least != nil && most != nil && (shortest, longest) != (standard.lowerBound, standard.upperBound)
        ignored = [minimum, maximum].compactMap { setting in
            guard let value = settings.file[setting.group, setting.key], settings.interval(setting) == nil
            else { return nil }
            return "\(setting.key) = \(value)"
        }
        self.unit = unit
    }

    /// Whether the shortest interval is not longer than the longest interval.
    var isPossible: Bool { shortest <= longest }

    /// The range in milliseconds.
    var description: String {
        shortest == longest
            ? "\(milliseconds(longest)) ms" : "\(milliseconds(shortest)) to \(milliseconds(longest)) ms"
    }

    /// A sentence about the lines that bluetoothd ignores, with a space behind it; empty if there are none.
    var ignoredLines: String {
        guard !ignored.isEmpty else { return "" }
        return "bluetoothd ignores \(ignored.map { "'\($0)'" }.joined(separator: " and ")). "
    }

    private func milliseconds(_ units: Int) -> String {
        let microseconds = units * unit
        var fraction = String(microseconds % 1000 + 1000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? "\(microseconds / 1000)" : "\(microseconds / 1000).\(fraction)"
    }
}

extension DaemonSettings {
    /// Returns the value of an interval; `nil` if the kernel uses its default.
    fileprivate func interval(_ setting: Setting) -> Int? {
        guard case .interval(let range) = setting.values,
            let number = file[setting.group, setting.key].flatMap({ Int(strtol: $0) })
        else { return nil }
        if range.contains(number) { return number }
        guard let version, version < .refusedIntervals else { return nil }
        return min(max(number, range.lowerBound), range.upperBound)
    }
}
