import ExampleSupport

/// Measurements of a device's surroundings.
struct Surroundings: Hashable {
    /// The temperature in degrees Celsius.
    var celsius: Double?
    /// The relative humidity in percent.
    var humidityPercent: Double?
    /// The air pressure in pascals.
    var pascals: Double?
}

/// The sensors of this device that the kernel provides: Industrial I/O and hwmon.
///
/// If several sensors measure the same quantity, the first readable one is used. Industrial I/O comes before
/// hwmon, which most often measures the inside of a chip. See `Documentation/ABI/testing/sysfs-bus-iio` and
/// `sysfs-class-hwmon` of the kernel.
struct DeviceSensors {
    private let iio: [String]
    private let hwmon: [String]

    /// Finds the sensors.
    ///
    /// - Parameter root: The directory of sysfs. Tests use another one.
    init(in root: String = "/sys") {
        iio = Self.directories(in: "\(root)/bus/iio/devices")
        hwmon = Self.directories(in: "\(root)/class/hwmon")
    }

    /// Reads all sensors.
    ///
    /// - Returns: The readable values; `nil` when there are none.
    func read() -> Surroundings? {
        // Both use thousandths, except that Industrial I/O reports pressure in kilopascals.
        let surroundings = Surroundings(
            celsius: (industrial("temp") ?? monitored("temp1")).map { $0 / 1000 },
            humidityPercent: (industrial("humidityrelative") ?? monitored("humidity1")).map { $0 / 1000 },
            pascals: industrial("pressure").map { $0 * 1000 }
        )
        return surroundings == Surroundings() ? nil : surroundings
    }

    /// Reads a value, which a driver provides either processed, or raw with an offset and a scale.
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
