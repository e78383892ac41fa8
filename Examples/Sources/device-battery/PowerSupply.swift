import ExampleSupport

/// The battery of this device, as the kernel's class `power_supply` tells it
/// (`Documentation/ABI/testing/sysfs-class-power` of the kernel).
struct PowerSupply {
    private let directory: String

    /// Finds the first battery that supplies this device.
    ///
    /// - Parameter root: The directory of the class; another one in tests.
    init?(in root: String = "/sys/class/power_supply") {
        let batteries = SystemFiles.names(in: root).map { "\(root)/\($0)" }.filter { supply in
            // Those of mice and headsets are here as well.
            SystemFiles.line("\(supply)/type") == "Battery" && SystemFiles.line("\(supply)/scope") != "Device"
                && SystemFiles.line("\(supply)/present") != "0"
        }
        guard let directory = batteries.first(where: { Self.percent(in: $0) != nil }) else { return nil }
        self.directory = directory
    }

    /// The name that the driver gives it, such as `BAT0`.
    var name: Substring {
        directory.split(separator: "/").last ?? ""
    }

    /// How full it is; `nil` when it has been taken out.
    var percent: Int? {
        Self.percent(in: directory)
    }

    /// Not every driver tells a percentage; then it follows from the charge or the energy.
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
