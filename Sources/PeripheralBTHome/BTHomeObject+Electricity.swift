// Measurements of electricity, gas and water.

extension BTHomeObject {
    private static let batteryQuantity = BTHomeQuantity(
        "battery",
        "%",
        .unsigned(0x01, bytes: 1)
    )

    /// The charge of a battery in percent, object 0x01.
    public static func battery(_ percent: Double) -> BTHomeObject {
        BTHomeObject(batteryQuantity, percent)
    }

    private static let voltageQuantity = BTHomeQuantity(
        "voltage",
        "V",
        .unsigned(0x0C, bytes: 2, scale: 1000),
        .unsigned(0x4A, bytes: 2, scale: 10)
    )

    /// A voltage in volts.
    ///
    /// The numbers are 0x0C for steps of 0.001 V up to 65.535 V, and 0x4A for 0.1 V up to 6553.5 V.
    ///
    /// - Parameters:
    ///   - volts: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func voltage(_ volts: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(voltageQuantity, volts, objectID)
    }

    private static let currentQuantity = BTHomeQuantity(
        "current",
        "A",
        .unsigned(0x43, bytes: 2, scale: 1000),
        .signed(0x5D, bytes: 2, scale: 1000)
    )

    /// A current in amperes.
    ///
    /// The numbers are 0x43 for steps of 0.001 A up to 65.535 A, and 0x5D for 0.001 A from −32.768 to 32.767
    /// A.
    ///
    /// - Parameters:
    ///   - amperes: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func current(_ amperes: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(currentQuantity, amperes, objectID)
    }

    private static let powerQuantity = BTHomeQuantity(
        "power",
        "W",
        .unsigned(0x0B, bytes: 3, scale: 100),
        .signed(0x5C, bytes: 4, scale: 100)
    )

    /// A power in watts.
    ///
    /// The numbers are 0x0B for steps of 0.01 W up to 167772.15 W, and 0x5C for 0.01 W up to ±21474836.47 W.
    ///
    /// - Parameters:
    ///   - watts: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func power(_ watts: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(powerQuantity, watts, objectID)
    }

    private static let energyQuantity = BTHomeQuantity(
        "energy",
        "kWh",
        .unsigned(0x0A, bytes: 3, scale: 1000),
        .unsigned(0x4D, bytes: 4, scale: 1000)
    )

    /// An energy in kWh.
    ///
    /// The numbers are 0x0A for steps of 0.001 kWh up to 16777.215 kWh, and 0x4D for 0.001 kWh up to
    /// 4294967.295 kWh.
    ///
    /// - Parameters:
    ///   - kilowattHours: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func energy(_ kilowattHours: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(energyQuantity, kilowattHours, objectID)
    }

    private static let gasQuantity = BTHomeQuantity(
        "gas",
        "m³",
        .unsigned(0x4B, bytes: 3, scale: 1000),
        .unsigned(0x4C, bytes: 4, scale: 1000)
    )

    /// A volume of gas in m³.
    ///
    /// The numbers are 0x4B for steps of 0.001 m³ up to 16777.215 m³, and 0x4C for 0.001 m³ up to 4294967.295
    /// m³.
    ///
    /// - Parameters:
    ///   - cubicMeters: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func gas(_ cubicMeters: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(gasQuantity, cubicMeters, objectID)
    }

    private static let waterQuantity = BTHomeQuantity(
        "water",
        "L",
        .unsigned(0x4F, bytes: 4, scale: 1000)
    )

    /// A volume of water in liters, object 0x4F, in steps of 0.001 L up to 4294967.295 L.
    public static func water(_ liters: Double) -> BTHomeObject {
        BTHomeObject(waterQuantity, liters)
    }

    private static let volumeQuantity = BTHomeQuantity(
        "volume",
        "L",
        .unsigned(0x4E, bytes: 4, scale: 1000),
        .unsigned(0x47, bytes: 2, scale: 10)
    )

    /// A volume in liters.
    ///
    /// The numbers are 0x4E for steps of 0.001 L up to 4294967.295 L, and 0x47 for 0.1 L up to 6553.5 L.
    ///
    /// - Parameters:
    ///   - liters: The value.
    ///   - objectID: The number of the object, or `nil` for the first of these numbers that can hold the
    ///     value.
    /// - Returns: The object.
    public static func volume(_ liters: Double, objectID: UInt8? = nil) -> BTHomeObject {
        BTHomeObject(volumeQuantity, liters, objectID)
    }

    private static let millilitersQuantity = BTHomeQuantity(
        "volume",
        "mL",
        .unsigned(0x48, bytes: 2)
    )

    /// A volume in mL, object 0x48, up to 65,535 mL.
    public static func milliliters(_ milliliters: Double) -> BTHomeObject {
        BTHomeObject(millilitersQuantity, milliliters)
    }

    private static let storedVolumeQuantity = BTHomeQuantity(
        "stored volume",
        "L",
        .unsigned(0x55, bytes: 4, scale: 1000)
    )

    /// A stored volume in liters, object 0x55, in steps of 0.001 L up to 4294967.295 L.
    public static func storedVolume(_ liters: Double) -> BTHomeObject {
        BTHomeObject(storedVolumeQuantity, liters)
    }

    private static let volumeFlowRateQuantity = BTHomeQuantity(
        "volume flow rate",
        "m³/h",
        .unsigned(0x49, bytes: 2, scale: 1000)
    )

    /// A flow in m³/h, object 0x49, in steps of 0.001 m³/h up to 65.535 m³/h.
    public static func volumeFlowRate(_ cubicMetersPerHour: Double) -> BTHomeObject {
        BTHomeObject(volumeFlowRateQuantity, cubicMetersPerHour)
    }
}
