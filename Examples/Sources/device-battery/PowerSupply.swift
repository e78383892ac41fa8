import ExampleSupport

/// The battery of this device, read from the kernel's class `power_supply`.
///
/// See `Documentation/ABI/testing/sysfs-class-power` of the kernel.
struct PowerSupply {
    private let directory: String

    /// Finds the first battery that supplies this device.
    ///
    /// - Parameter root: The directory of the class. Tests use another one.
    init?(in root: String = "/sys/class/power_supply") {
        let batteries = SystemFiles.names(in: root).map { "\(root)/\($0)" }.filter { supply in
            // The class also contains the batteries of mice and headsets.
            SystemFiles.line("\(supply)/type") == "Battery" && SystemFiles.line("\(supply)/scope") != "Device"
                && SystemFiles.line("\(supply)/present") != "0"
        }
        guard let directory = batteries.first(where: { Self.percent(in: $0) != nil }) else { return nil }
        self.directory = directory
    }

    /// The name that the driver gives to the battery, such as `BAT0`.
    var name: Substring {
        directory.split(separator: "/").last ?? ""
    }

    /// The level in percent; `nil` when the battery has been removed.
    var percent: Int? {
        Self.percent(in: directory)
    }

    /// Returns the percentage, computed from charge or energy if the driver does not provide it.
    private static func percent(in directory: String) -> Int? {
        if let capacity = SystemFiles.number("\(directory)/capacity") { return capacity }
        for quantity in ["charge", "energy"] {
            guard let now = SystemFiles.number("\(directory)/\(quantity)_now"),
                let full = SystemFiles.number("\(directory)/\(quantity)_full"), full > 0, now >= 0
            else { continue }
            return Int((Double(now) / Double(full) * 100).rounded())
        }
        return nil
    }
}
