extension PresentationFormat {
    /// The unit of a value (Assigned Numbers, 3.5).
    ///
    /// If `Unit` has no constant for a unit, pass the number of the unit, such as `unit: 0x2706`.
    public struct Unit: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The 16-bit UUID of the unit, as a number.
        public let rawValue: UInt16

        /// Creates a unit from its number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Creates a unit from its number.
        public init(integerLiteral number: UInt16) {
            self.init(rawValue: number)
        }

        /// The value has no unit.
        public static let unitless: Unit = 0x2700
        /// Length in metres.
        public static let metre: Unit = 0x2701
        /// Mass in kilograms.
        public static let kilogram: Unit = 0x2702
        /// Time in seconds.
        public static let second: Unit = 0x2703
        /// Electric current in amperes.
        public static let ampere: Unit = 0x2704
        /// Thermodynamic temperature in kelvins.
        public static let kelvin: Unit = 0x2705
        /// Velocity in metres per second.
        public static let metrePerSecond: Unit = 0x2712
        /// Acceleration in metres per second squared.
        public static let metrePerSecondSquared: Unit = 0x2713
        /// Frequency in hertz.
        public static let hertz: Unit = 0x2722
        /// Force in newtons.
        public static let newton: Unit = 0x2723
        /// Pressure in pascals.
        public static let pascal: Unit = 0x2724
        /// Energy in joules.
        public static let joule: Unit = 0x2725
        /// Power in watts.
        public static let watt: Unit = 0x2726
        /// Electric charge in coulombs.
        public static let coulomb: Unit = 0x2727
        /// Electric potential difference in volts.
        public static let volt: Unit = 0x2728
        /// Electric resistance in ohms.
        public static let ohm: Unit = 0x272A
        /// Temperature in degrees Celsius.
        public static let degreeCelsius: Unit = 0x272F
        /// Illuminance in lux.
        public static let lux: Unit = 0x2731
        /// Time in minutes.
        public static let minute: Unit = 0x2760
        /// Time in hours.
        public static let hour: Unit = 0x2761
        /// Time in days.
        public static let day: Unit = 0x2762
        /// Plane angle in degrees.
        public static let degree: Unit = 0x2763
        /// Temperature in degrees Fahrenheit.
        public static let degreeFahrenheit: Unit = 0x27AC
        /// Percentage.
        public static let percentage: Unit = 0x27AD
        /// Per mille.
        public static let perMille: Unit = 0x27AE
        /// Rate in beats per minute.
        public static let beatsPerMinute: Unit = 0x27AF
    }
}
