import ExampleSupport

/// What is measured of the surroundings of a device.
struct Surroundings: Hashable {
    /// The temperature in degrees Celsius.
    var celsius: Double?
    /// The relative humidity in percent.
    var humidityPercent: Double?
    /// The pressure of the air in pascals.
    var pascals: Double?
}

/// The sensors of this device, as the kernel tells them: those of Industrial I/O, and those of hwmon.
///
/// Where several measure the same, the first that can be read is taken, and one of Industrial I/O before one of hwmon, which
/// most often measures the inside of a chip. See `Documentation/ABI/testing/sysfs-bus-iio` and `sysfs-class-hwmon` of the
/// kernel.
struct DeviceSensors {
    private let iio: [String]
    private let hwmon: [String]

    /// Finds the sensors.
    ///
    /// - Parameter root: The directory of sysfs; another one in tests.
    init(in root: String = "/sys") {
        iio = Self.directories(in: "\(root)/bus/iio/devices")
        hwmon = Self.directories(in: "\(root)/class/hwmon")
    }

    /// Reads all sensors.
    ///
    /// - Returns: What can be read now; `nil` when that is nothing.
    func read() -> Surroundings? {
        // Both tell thousandths, but for the pressure, which Industrial I/O tells in kilopascals.
        let surroundings = Surroundings(
            celsius: (industrial("temp") ?? monitored("temp1")).map { $0 / 1000 },
            humidityPercent: (industrial("humidityrelative") ?? monitored("humidity1")).map { $0 / 1000 },
            pascals: industrial("pressure").map { $0 * 1000 }
        )
        return surroundings == Surroundings() ? nil : surroundings
    }

    /// A driver tells a value either as it is, or raw, with what makes the value of it.
    private func industrial(_ quantity: String) -> Double? {
        for directory in iio {
            let path = "\(directory)/in_\(quantity)"
            if let value = number("\(path)_input") { return value }
            if let raw = number("\(path)_raw") {
                return (raw + (number("\(path)_offset") ?? 0)) * (number("\(path)_scale") ?? 1)
            }
        }
        return nil
    }

    private func monitored(_ quantity: String) -> Double? {
        for directory in hwmon {
            if let value = number("\(directory)/\(quantity)_input") { return value }
        }
        return nil
    }

    private func number(_ path: String) -> Double? {
        SystemFiles.line(path).flatMap { Double($0) }
    }

    private static func directories(in parent: String) -> [String] {
        SystemFiles.names(in: parent).map { "\(parent)/\($0)" }
    }
}
