public import PeripheralKit

/// How a sensor measures: the value of the ES Measurement, 0x290C (Environmental Sensing Service 1.0, section 3.1).
public struct EnvironmentalMeasurement: Hashable, Sendable {
    /// What is made of the samples of a period.
    public struct Sampling: RawRepresentable, Hashable, Sendable {
        /// The function as it is on the air; values from 8 on are reserved.
        public let rawValue: UInt8

        /// Makes a function, known to the specification or not.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Nothing is said.
        public static let unspecified = Sampling(rawValue: 0)
        /// The last sample.
        public static let instantaneous = Sampling(rawValue: 1)
        /// The arithmetic mean.
        public static let arithmeticMean = Sampling(rawValue: 2)
        /// The root mean square.
        public static let rootMeanSquare = Sampling(rawValue: 3)
        /// The greatest.
        public static let maximum = Sampling(rawValue: 4)
        /// The least.
        public static let minimum = Sampling(rawValue: 5)
        /// The sum.
        public static let accumulated = Sampling(rawValue: 6)
        /// How many there were.
        public static let count = Sampling(rawValue: 7)
    }

    /// Where a sensor measures.
    public struct Application: RawRepresentable, Hashable, Sendable {
        /// The application as it is on the air; values from 0x22 on are reserved.
        public let rawValue: UInt8

        /// Makes an application, known to the specification or not.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Nothing is said.
        public static let unspecified = Application(rawValue: 0x00)
        /// Air.
        public static let air = Application(rawValue: 0x01)
        /// Water.
        public static let water = Application(rawValue: 0x02)
        /// Barometric.
        public static let barometric = Application(rawValue: 0x03)
        /// Soil.
        public static let soil = Application(rawValue: 0x04)
        /// Infrared.
        public static let infrared = Application(rawValue: 0x05)
        /// The database of a map.
        public static let mapDatabase = Application(rawValue: 0x06)
        /// An elevation by the pressure of the air.
        public static let barometricElevationSource = Application(rawValue: 0x07)
        /// An elevation by satellites alone.
        public static let gpsElevationSource = Application(rawValue: 0x08)
        /// An elevation by satellites and the database of a map.
        public static let gpsAndMapElevationSource = Application(rawValue: 0x09)
        /// An elevation over a vertical datum.
        public static let verticalDatumElevationSource = Application(rawValue: 0x0A)
        /// On the shore.
        public static let onshore = Application(rawValue: 0x0B)
        /// On board of a vessel or vehicle.
        public static let onboard = Application(rawValue: 0x0C)
        /// In front.
        public static let front = Application(rawValue: 0x0D)
        /// At the back.
        public static let back = Application(rawValue: 0x0E)
        /// The upper one.
        public static let upper = Application(rawValue: 0x0F)
        /// The lower one.
        public static let lower = Application(rawValue: 0x10)
        /// The primary one.
        public static let primary = Application(rawValue: 0x11)
        /// The secondary one.
        public static let secondary = Application(rawValue: 0x12)
        /// Outdoor.
        public static let outdoor = Application(rawValue: 0x13)
        /// Indoor.
        public static let indoor = Application(rawValue: 0x14)
        /// On top.
        public static let top = Application(rawValue: 0x15)
        /// At the bottom.
        public static let bottom = Application(rawValue: 0x16)
        /// The main one.
        public static let main = Application(rawValue: 0x17)
        /// The one for when the main one fails.
        public static let backup = Application(rawValue: 0x18)
        /// An auxiliary one.
        public static let auxiliary = Application(rawValue: 0x19)
        /// A supplementary one.
        public static let supplementary = Application(rawValue: 0x1A)
        /// Inside.
        public static let inside = Application(rawValue: 0x1B)
        /// Outside.
        public static let outside = Application(rawValue: 0x1C)
        /// At the left.
        public static let left = Application(rawValue: 0x1D)
        /// At the right.
        public static let right = Application(rawValue: 0x1E)
        /// Within the device.
        public static let `internal` = Application(rawValue: 0x1F)
        /// Beyond the device.
        public static let external = Application(rawValue: 0x20)
        /// Solar.
        public static let solar = Application(rawValue: 0x21)
    }

    /// What is made of the samples of a period.
    public var sampling: Sampling
    /// How long a period is, in seconds, 1 to 16,777,215; `nil` when that is not said.
    public var period: UInt32?
    /// How often the value is measured anew, in seconds, 1 to 16,777,215; `nil` when that is not said.
    public var updateInterval: UInt32?
    /// Where the sensor measures.
    public var application: Application
    /// How much the value may deviate, in percent: 0 to 127 in steps of 0.5; `nil`, or not a number, when that is not said.
    public var uncertainty: Double?

    /// Makes a description of a measurement.
    ///
    /// - Parameters:
    ///   - sampling: What is made of the samples of a period.
    ///   - period: How long a period is, in seconds.
    ///   - updateInterval: How often the value is measured anew, in seconds.
    ///   - application: Where the sensor measures.
    ///   - uncertainty: How much the value may deviate, in percent; sent as the nearest that can be.
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

    /// Reads eleven bytes; the flags, of which all are reserved, are ignored.
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
