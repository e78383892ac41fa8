public import PeripheralKit

/// The sampling method, the update interval and the uncertainty of sensor measurements.
///
/// `EnvironmentalMeasurement` represents the value of the ES Measurement descriptor, 0x290C (Environmental
/// Sensing Service 1.0, section 3.1).
public struct EnvironmentalMeasurement: Hashable, Sendable {
    /// The function that combines the samples of a measurement period into one value.
    public struct Sampling: RawRepresentable, Hashable, Sendable {
        /// The encoded sampling function.
        ///
        /// Values of 8 and above are reserved.
        public let rawValue: UInt8

        /// Creates a sampling function from an encoded value.
        ///
        /// The initializer also accepts functions that the specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Not specified.
        public static let unspecified = Sampling(rawValue: 0)
        /// The last sample.
        public static let instantaneous = Sampling(rawValue: 1)
        /// The arithmetic mean of the samples.
        public static let arithmeticMean = Sampling(rawValue: 2)
        /// The root mean square of the samples.
        public static let rootMeanSquare = Sampling(rawValue: 3)
        /// The greatest sample.
        public static let maximum = Sampling(rawValue: 4)
        /// The least sample.
        public static let minimum = Sampling(rawValue: 5)
        /// The sum of the samples in the measurement period.
        public static let accumulated = Sampling(rawValue: 6)
        /// The number of samples in the measurement period.
        public static let count = Sampling(rawValue: 7)
    }

    /// The purpose of a sensor: what the sensor measures, or where the sensor is used.
    ///
    /// The specification calls the purpose the "application" of the sensor.
    public struct Application: RawRepresentable, Hashable, Sendable {
        /// The number that encodes the purpose of the sensor.
        ///
        /// Values of 0x22 and above are reserved.
        public let rawValue: UInt8

        /// Creates the purpose of a sensor from an encoded value.
        ///
        /// The initializer also accepts values that the specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Not specified.
        public static let unspecified = Application(rawValue: 0x00)
        /// Air.
        public static let air = Application(rawValue: 0x01)
        /// Water.
        public static let water = Application(rawValue: 0x02)
        /// Barometric pressure.
        public static let barometric = Application(rawValue: 0x03)
        /// Soil.
        public static let soil = Application(rawValue: 0x04)
        /// Infrared.
        public static let infrared = Application(rawValue: 0x05)
        /// A map database.
        public static let mapDatabase = Application(rawValue: 0x06)
        /// An elevation that is derived from barometric pressure.
        public static let barometricElevationSource = Application(rawValue: 0x07)
        /// An elevation that is derived from GPS data only.
        public static let gpsElevationSource = Application(rawValue: 0x08)
        /// An elevation that is derived from GPS data and a map database.
        public static let gpsAndMapElevationSource = Application(rawValue: 0x09)
        /// An elevation relative to a vertical datum.
        public static let verticalDatumElevationSource = Application(rawValue: 0x0A)
        /// Onshore.
        public static let onshore = Application(rawValue: 0x0B)
        /// A sensor on board a vessel or a vehicle.
        public static let onboard = Application(rawValue: 0x0C)
        /// The front.
        public static let front = Application(rawValue: 0x0D)
        /// The back.
        public static let back = Application(rawValue: 0x0E)
        /// The upper position.
        public static let upper = Application(rawValue: 0x0F)
        /// The lower position.
        public static let lower = Application(rawValue: 0x10)
        /// The primary sensor.
        public static let primary = Application(rawValue: 0x11)
        /// The secondary sensor.
        public static let secondary = Application(rawValue: 0x12)
        /// Outdoors.
        public static let outdoor = Application(rawValue: 0x13)
        /// Indoors.
        public static let indoor = Application(rawValue: 0x14)
        /// The top.
        public static let top = Application(rawValue: 0x15)
        /// The bottom.
        public static let bottom = Application(rawValue: 0x16)
        /// The main sensor.
        public static let main = Application(rawValue: 0x17)
        /// The backup sensor.
        public static let backup = Application(rawValue: 0x18)
        /// An auxiliary sensor.
        public static let auxiliary = Application(rawValue: 0x19)
        /// A supplementary sensor.
        public static let supplementary = Application(rawValue: 0x1A)
        /// The inside.
        public static let inside = Application(rawValue: 0x1B)
        /// The outside.
        public static let outside = Application(rawValue: 0x1C)
        /// The left.
        public static let left = Application(rawValue: 0x1D)
        /// The right.
        public static let right = Application(rawValue: 0x1E)
        /// Inside the device.
        public static let `internal` = Application(rawValue: 0x1F)
        /// Outside the device.
        public static let external = Application(rawValue: 0x20)
        /// Solar.
        public static let solar = Application(rawValue: 0x21)
    }

    /// The function that combines the samples of a measurement period into one value.
    public var sampling: Sampling
    /// The measurement period in seconds, 1 to 16,777,215.
    ///
    /// The property is `nil` if the measurement period is not specified.
    public var period: UInt32?
    /// The interval between two updates of the value, in seconds, 1 to 16,777,215.
    ///
    /// The property is `nil` if the update interval is not specified.
    public var updateInterval: UInt32?
    /// The purpose of the sensor.
    public var application: Application
    /// The uncertainty of the value in percent, 0 to 127 in steps of 0.5.
    ///
    /// The property is `nil` or NaN (not a number) if the uncertainty is not specified.
    public var uncertainty: Double?

    /// Creates a description of how a sensor measures a value.
    ///
    /// - Parameters:
    ///   - sampling: The function that combines the samples of a measurement period into one value.
    ///   - period: The measurement period in seconds.
    ///   - updateInterval: The interval between two updates of the value, in seconds.
    ///   - application: The purpose of the sensor.
    ///   - uncertainty: The uncertainty of the value in percent. The encoder rounds the uncertainty to the
    ///     nearest step of 0.5.
    public init(
        sampling: Sampling = .instantaneous,
        period: UInt32? = nil,
        updateInterval: UInt32? = nil,
        application: Application = .unspecified,
        uncertainty: Double? = nil
    ) {
        self.sampling = sampling
        self.period = period
        self.updateInterval = updateInterval
        self.application = application
        self.uncertainty = uncertainty
    }
}

extension EnvironmentalMeasurement: GATTValue {
    private static let unknownUncertainty: UInt8 = 0xFF

    /// Reads eleven bytes.
    ///
    /// The initializer ignores the flags, because the specification reserves all flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        _ = try reader.read(UInt16.self)
        sampling = Sampling(rawValue: try reader.read())
        let period = try reader.readUInt24().rawValue
        let updateInterval = try reader.readUInt24().rawValue
        self.period = period == 0 ? nil : period
        self.updateInterval = updateInterval == 0 ? nil : updateInterval
        application = Application(rawValue: try reader.read())
        let uncertainty: UInt8 = try reader.read()
        self.uncertainty = uncertainty == Self.unknownUncertainty ? nil : Double(uncertainty) / 2
    }

    /// Appends eleven bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(0 as UInt16)
        writer.write(sampling.rawValue)
        writer.write(UInt24(clamping: period ?? 0))
        writer.write(UInt24(clamping: updateInterval ?? 0))
        writer.write(application.rawValue)
        let halves = uncertainty.flatMap { $0.isNaN ? nil : ($0 * 2).rounded() }
        writer.write(halves.map { $0 > 0 ? UInt8(min($0, 254)) : 0 } ?? Self.unknownUncertainty)
    }
}
