// Measurements of the environment.

extension BTHomeObject {
    private static let temperatureQuantity = BTHomeQuantity(
        "temperature",
        "°C",
        .signed(0x02, bytes: 2, scale: 100),
        .signed(0x45, bytes: 2, scale: 10),
        .signed(0x57, bytes: 1),
        .signed(0x58, bytes: 1, scale: 100 / 35)
    )

    /// A temperature in °C.
    ///
    /// The numbers are 0x02 for steps of 0.01 °C up to ±327.67 °C, 0x45 for 0.1 °C up to ±3276.7 °C, 0x57 for
    /// 1 °C
    /// from −128 to 127 °C, and 0x58 for 0.35 °C from −44.8 to 44.45 °C.
    ///
    /// - Parameters:
    ///   - celsius: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func temperature(_ celsius: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(temperatureQuantity, celsius, objectID)
    }

    private static let dewPointQuantity = BTHomeQuantity(
        "dew point",
        "°C",
        .signed(0x08, bytes: 2, scale: 100)
    )

    /// A dew point in °C, object 0x08, in steps of 0.01 °C up to ±327.67 °C.
    public static func dewPoint(_ celsius: Double) -> BTHomeObject {
        BTHomeObject(dewPointQuantity, celsius)
    }

    private static let humidityQuantity = BTHomeQuantity(
        "humidity",
        "%",
        .unsigned(0x03, bytes: 2, scale: 100),
        .unsigned(0x2E, bytes: 1)
    )

    /// A relative humidity in percent.
    ///
    /// The numbers are 0x03 for steps of 0.01 %, and 0x2E for 1 %.
    ///
    /// - Parameters:
    ///   - percent: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func humidity(_ percent: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(humidityQuantity, percent, objectID)
    }

    private static let moistureQuantity = BTHomeQuantity(
        "moisture",
        "%",
        .unsigned(0x14, bytes: 2, scale: 100),
        .unsigned(0x2F, bytes: 1)
    )

    /// A moisture, for example of soil, in percent.
    ///
    /// The numbers are 0x14 for steps of 0.01 %, and 0x2F for 1 %.
    ///
    /// - Parameters:
    ///   - percent: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func moisture(_ percent: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(moistureQuantity, percent, objectID)
    }

    private static let pressureQuantity = BTHomeQuantity(
        "pressure",
        "hPa",
        .unsigned(0x04, bytes: 3, scale: 100)
    )

    /// An air pressure in hPa, object 0x04, in steps of 0.01 hPa up to 167772.15 hPa.
    public static func pressure(_ hectopascals: Double) -> BTHomeObject {
        BTHomeObject(pressureQuantity, hectopascals)
    }

    private static let illuminanceQuantity = BTHomeQuantity(
        "illuminance",
        "lx",
        .unsigned(0x05, bytes: 3, scale: 100)
    )

    /// An illuminance in lux, object 0x05, in steps of 0.01 lx up to 167772.15 lx.
    public static func illuminance(_ lux: Double) -> BTHomeObject {
        BTHomeObject(illuminanceQuantity, lux)
    }

    private static let lightLevelQuantity = BTHomeQuantity(
        "light level",
        "",
        .unsigned(0x64, bytes: 1)
    )

    /// A light level without a unit, object 0x64, from 0 to 255.
    public static func lightLevel(_ level: Double) -> BTHomeObject {
        BTHomeObject(lightLevelQuantity, level)
    }

    private static let uvIndexQuantity = BTHomeQuantity(
        "UV index",
        "",
        .unsigned(0x46, bytes: 1, scale: 10)
    )

    /// A UV index, object 0x46, in steps of 0.1 up to 25.5.
    public static func uvIndex(_ index: Double) -> BTHomeObject {
        BTHomeObject(uvIndexQuantity, index)
    }

    private static let carbonDioxideQuantity = BTHomeQuantity(
        "carbon dioxide",
        "ppm",
        .unsigned(0x12, bytes: 2)
    )

    /// A concentration of carbon dioxide in ppm, object 0x12, up to 65,535 ppm.
    public static func carbonDioxide(_ partsPerMillion: Double) -> BTHomeObject {
        BTHomeObject(carbonDioxideQuantity, partsPerMillion)
    }

    private static let volatileOrganicCompoundsQuantity = BTHomeQuantity(
        "TVOC",
        "µg/m³",
        .unsigned(0x13, bytes: 2)
    )

    /// The volatile organic compounds (TVOC) in µg/m³, object 0x13, up to 65,535 µg/m³.
    public static func volatileOrganicCompounds(_ microgramsPerCubicMeter: Double) -> BTHomeObject {
        BTHomeObject(volatileOrganicCompoundsQuantity, microgramsPerCubicMeter)
    }

    private static let pm2_5Quantity = BTHomeQuantity(
        "PM2.5",
        "µg/m³",
        .unsigned(0x0D, bytes: 2)
    )

    /// The particles up to 2.5 µm in µg/m³, object 0x0D, up to 65,535 µg/m³.
    public static func pm2_5(_ microgramsPerCubicMeter: Double) -> BTHomeObject {
        BTHomeObject(pm2_5Quantity, microgramsPerCubicMeter)
    }

    private static let pm10Quantity = BTHomeQuantity(
        "PM10",
        "µg/m³",
        .unsigned(0x0E, bytes: 2)
    )

    /// The particles up to 10 µm in µg/m³, object 0x0E, up to 65,535 µg/m³.
    public static func pm10(_ microgramsPerCubicMeter: Double) -> BTHomeObject {
        BTHomeObject(pm10Quantity, microgramsPerCubicMeter)
    }

    private static let conductivityQuantity = BTHomeQuantity(
        "conductivity",
        "µS/cm",
        .unsigned(0x56, bytes: 2)
    )

    /// A conductivity in µS/cm, object 0x56, up to 65,535 µS/cm.
    public static func conductivity(_ microsiemensPerCentimeter: Double) -> BTHomeObject {
        BTHomeObject(conductivityQuantity, microsiemensPerCentimeter)
    }

    private static let precipitationQuantity = BTHomeQuantity(
        "precipitation",
        "mm",
        .unsigned(0x5F, bytes: 2, scale: 10)
    )

    /// A precipitation in mm, object 0x5F, in steps of 0.1 mm up to 6553.5 mm.
    public static func precipitation(_ millimeters: Double) -> BTHomeObject {
        BTHomeObject(precipitationQuantity, millimeters)
    }
}
