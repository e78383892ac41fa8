public import PeripheralKit

/// A quantity that an ``EnvironmentalSensor`` measures.
///
/// A quantity consists of the UUID of a characteristic, a unit, and an encoding for numbers. The GATT
/// Specification Supplement defines the UUID, the unit and the encoding. An ``EnvironmentalValue`` rounds a
/// number to the nearest step, and limits the number to the range of the quantity.
public struct EnvironmentalQuantity: Hashable, Sendable {
    /// The UUID of the characteristic that contains the measured value.
    public let type: BluetoothUUID

    /// The unit of the quantity.
    public let unit: PresentationFormat.Unit

    /// The decimal exponent that all encoded numbers of the quantity share.
    ///
    /// The property is 0 if each encoded number contains its own exponent.
    public let exponent: Int8

    let encoding: Encoding

    /// The range of valid encoded numbers; `nil` for decimal floats.
    let counts: ClosedRange<Int>?

    /// The encoded number for an unknown value; `nil` when there is none.
    let unknown: Int?

    enum Encoding: Hashable {
        case uint8, uint16, uint24, uint32, sint8, sint16, sint24, medfloat16
    }

    private init(
        _ type: UInt16,
        _ encoding: Encoding,
        exponent: Int8 = 0,
        unit: PresentationFormat.Unit,
        counts: ClosedRange<Int>? = nil,
        unknown: Int? = nil
    ) {
        self.type = BluetoothUUID(type)
        self.encoding = encoding
        self.exponent = exponent
        self.unit = unit
        self.counts = counts ?? encoding.range
        self.unknown = unknown
    }

    // MARK: Weather

    /// Temperature in degrees Celsius, −273.15 to 327.67 in steps of 0.01.
    ///
    /// The temperature can be unknown.
    public static let temperature = EnvironmentalQuantity(
        0x2A6E,
        .sint16,
        exponent: -2,
        unit: .degreeCelsius,
        counts: -27_315...32_767,
        unknown: -32_768
    )
    /// Relative humidity in percent, 0 to 100 in steps of 0.01.
    ///
    /// The humidity can be unknown.
    public static let humidity = EnvironmentalQuantity(
        0x2A6F,
        .uint16,
        exponent: -2,
        unit: .percentage,
        counts: 0...10_000,
        unknown: 0xFFFF
    )
    /// Air pressure in pascals, 0 to 429,496,729.5 in steps of 0.1.
    public static let pressure = EnvironmentalQuantity(0x2A6D, .uint32, exponent: -1, unit: .pascal)
    /// Dew point in degrees Celsius, −128 to 127.
    public static let dewPoint = EnvironmentalQuantity(0x2A7B, .sint8, unit: .degreeCelsius)
    /// Heat index in degrees Celsius, −128 to 127.
    public static let heatIndex = EnvironmentalQuantity(0x2A7A, .sint8, unit: .degreeCelsius)
    /// Wind chill in degrees Celsius, −128 to 127.
    public static let windChill = EnvironmentalQuantity(0x2A79, .sint8, unit: .degreeCelsius)
    /// Wind speed relative to the ground, in meters per second.
    ///
    /// The range is 0 to 655.35 in steps of 0.01.
    public static let trueWindSpeed = EnvironmentalQuantity(
        0x2A70,
        .uint16,
        exponent: -2,
        unit: .metrePerSecond
    )
    /// Wind direction in degrees from true north, 0 to 359.99 in steps of 0.01.
    ///
    /// The value is the direction from which the wind blows.
    public static let trueWindDirection = EnvironmentalQuantity(
        0x2A71,
        .uint16,
        exponent: -2,
        unit: .degree,
        counts: 0...35_999
    )
    /// Wind speed relative to a moving observer, in meters per second.
    ///
    /// The wind speed is 0 to 655.35 meters per second in steps of 0.01.
    public static let apparentWindSpeed = EnvironmentalQuantity(
        0x2A72,
        .uint16,
        exponent: -2,
        unit: .metrePerSecond
    )
    /// Wind direction relative to a moving observer, in degrees clockwise from straight ahead.
    ///
    /// The wind direction is 0 to 359.99 degrees in steps of 0.01. The value is the direction from which the
    /// observer feels the wind.
    public static let apparentWindDirection = EnvironmentalQuantity(
        0x2A73,
        .uint16,
        exponent: -2,
        unit: .degree,
        counts: 0...35_999
    )
    /// Ratio of the highest wind speed to the mean wind speed.
    ///
    /// The range is 0 to 25.5 in steps of 0.1.
    public static let gustFactor = EnvironmentalQuantity(0x2A74, .uint8, exponent: -1, unit: .unitless)
    /// Rainfall in meters, 0 to 65.535 in steps of 0.001.
    public static let rainfall = EnvironmentalQuantity(0x2A78, .uint16, exponent: -3, unit: .metre)

    // MARK: Light and radiation

    /// Illuminance in lux, 0 to 167,772.14 in steps of 0.01.
    ///
    /// The illuminance can be unknown.
    public static let illuminance = EnvironmentalQuantity(
        0x2AFB,
        .uint24,
        exponent: -2,
        unit: .lux,
        counts: 0...0xFF_FFFE,
        unknown: 0xFF_FFFF
    )
    /// Irradiance in watts per square meter, 0 to 6553.5 in steps of 0.1.
    public static let irradiance = EnvironmentalQuantity(0x2A77, .uint16, exponent: -1, unit: 0x27B6)
    /// UV index, 0 to 255.
    public static let uvIndex = EnvironmentalQuantity(0x2A76, .uint8, unit: .unitless)

    // MARK: Air

    /// Carbon dioxide concentration in parts per million, 0 to 65,533.
    ///
    /// The concentration can be unknown.
    ///
    /// The value 65,534 represents any concentration above 65,533 parts per million.
    public static let carbonDioxide = EnvironmentalQuantity(
        0x2B8C,
        .uint16,
        unit: 0x27C4,
        counts: 0...65_534,
        unknown: 0xFFFF
    )
    /// Concentration of volatile organic compounds, in parts per billion, 0 to 65,533.
    ///
    /// The concentration can be unknown.
    ///
    /// The value 65,534 represents any concentration above 65,533 parts per billion.
    public static let volatileOrganicCompounds = EnvironmentalQuantity(
        0x2BE7,
        .uint16,
        unit: 0x27C5,
        counts: 0...65_534,
        unknown: 0xFFFF
    )
    /// Concentration of particles of up to 1 µm diameter, in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let particulateMatter1 = density(0x2BD5)
    /// Concentration of particles of up to 2.5 µm diameter, in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let particulateMatter2_5 = density(0x2BD6)
    /// Concentration of particles of up to 10 µm diameter, in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let particulateMatter10 = density(0x2BD7)
    /// Ozone concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let ozone = density(0x2BD4)
    /// Nitrogen dioxide concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let nitrogenDioxide = density(0x2BD2)
    /// Sulfur dioxide concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let sulfurDioxide = density(0x2BD8)
    /// Ammonia concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let ammonia = density(0x2BCF)
    /// Carbon monoxide concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let carbonMonoxide = density(0x2BD0)
    /// Concentration of non-methane volatile organic compounds, in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let nonMethaneVolatileOrganicCompounds = density(0x2BD3)
    /// Sulfur hexafluoride concentration in kilograms per cubic meter.
    ///
    /// The concentration can be unknown. The finest resolution is 10 µg per cubic meter.
    public static let sulfurHexafluoride = density(0x2BD9)
    /// Methane concentration in parts per billion.
    ///
    /// The concentration can be unknown.
    public static let methane = EnvironmentalQuantity(0x2BD1, .medfloat16, unit: 0x27C5)
    /// Pollen concentration in grains per cubic meter, 0 to 16,777,215.
    public static let pollen = EnvironmentalQuantity(0x2A75, .uint24, unit: 0x27B5)

    // MARK: Place

    /// Elevation above sea level in meters, −83,886.08 to 83,886.07 in steps of 0.01.
    public static let elevation = EnvironmentalQuantity(0x2A6C, .sint24, exponent: -2, unit: .metre)
    /// Angle from true north to magnetic north, measured eastward in degrees.
    ///
    /// The angle is 0 to 359.99 degrees in steps of 0.01.
    public static let magneticDeclination = EnvironmentalQuantity(
        0x2A2C,
        .uint16,
        exponent: -2,
        unit: .degree,
        counts: 0...35_999
    )

    /// A concentration in kilograms per cubic meter, 0x2715 (GATT Specification Supplement).
    private static func density(_ type: UInt16) -> EnvironmentalQuantity {
        EnvironmentalQuantity(type, .medfloat16, unit: 0x2715)
    }
}

extension EnvironmentalQuantity.Encoding {
    fileprivate var range: ClosedRange<Int>? {
        switch self {
        case .uint8: 0...0xFF
        case .uint16: 0...0xFFFF
        case .uint24: 0...0xFF_FFFF
        case .uint32: 0...0xFFFF_FFFF
        case .sint8: -0x80...0x7F
        case .sint16: -0x8000...0x7FFF
        case .sint24: -0x80_0000...0x7F_FFFF
        case .medfloat16: nil
        }
    }

    var size: Int {
        switch self {
        case .uint8, .sint8: 1
        case .uint16, .sint16, .medfloat16: 2
        case .uint24, .sint24: 3
        case .uint32: 4
        }
    }

    var isSigned: Bool { self == .sint8 || self == .sint16 || self == .sint24 }

    var format: PresentationFormat.FormatType {
        switch self {
        case .uint8: .uint8
        case .uint16: .uint16
        case .uint24: .uint24
        case .uint32: .uint32
        case .sint8: .sint8
        case .sint16: .sint16
        case .sint24: .sint24
        case .medfloat16: .medfloat16
        }
    }
}
