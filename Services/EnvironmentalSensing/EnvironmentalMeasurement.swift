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
        /// The application as it is on the air; values from 0x1F on are reserved.
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
        /// Inside.
        public static let inside = Application(rawValue: 0x0D)
        /// Outside.
        public static let outside = Application(rawValue: 0x0E)
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
