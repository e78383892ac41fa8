/// The condition of a beacon, for an unencrypted Eddystone-TLM frame.
///
/// The [specification](https://github.com/google/eddystone/blob/master/eddystone-tlm/tlm-plain.md) defines
/// the fields.
public struct EddystoneTelemetry: Hashable, Sendable {
    /// The voltage of the battery in millivolts, or `nil` for a beacon without a battery.
    public var millivolts: UInt16?

    /// The temperature of the beacon in °C, or `nil` if the beacon does not measure it.
    ///
    /// A frame contains the temperature in steps of 1/256 °C, from −127.996 to 127.996 °C. A temperature
    /// outside of the range is sent as the nearest end of the range.
    public var celsius: Double?

    /// The number of advertisements since the beacon started.
    ///
    /// The Bluetooth stack does not count the advertisements. Divide the uptime by the advertising interval.
    public var advertisementCount: UInt32

    /// The time since the beacon started.
    ///
    /// A frame contains the time in tenths of a second, up to 13 years.
    public var uptime: Duration

    /// Creates the telemetry of a beacon.
    ///
    /// - Parameters:
    ///   - millivolts: The voltage of the battery, or `nil` for a beacon without a battery.
    ///   - celsius: The temperature of the beacon, or `nil` if the beacon does not measure it.
    ///   - advertisementCount: The number of advertisements since the beacon started.
    ///   - uptime: The time since the beacon started.
    public init(
        millivolts: UInt16? = nil,
        celsius: Double? = nil,
        advertisementCount: UInt32,
        uptime: Duration
    ) {
        self.millivolts = millivolts
        self.celsius = celsius
        self.advertisementCount = advertisementCount
        self.uptime = uptime
    }
}

extension EddystoneTelemetry {
    /// The bytes of the frame.
    var frame: [UInt8] {
        let version: UInt8 = 0
        return [0x20, version] + (millivolts ?? 0).bigEndianBytes + temperature.bigEndianBytes
            + advertisementCount.bigEndianBytes + tenthsOfSeconds.bigEndianBytes
    }

    /// The temperature as a fixed-point number with 8 fractional bits.
    private var temperature: Int16 {
        // The lowest number says that the beacon does not measure the temperature.
        guard let celsius, !celsius.isNaN else { return .min }
        return Int16(max(-32_767, min((celsius * 256).rounded(), 32_767)))
    }

    private var tenthsOfSeconds: UInt32 {
        let (seconds, attoseconds) = uptime.components
        let (tenths, overflows) = seconds.multipliedReportingOverflow(by: 10)
        guard !overflows else { return seconds < 0 ? 0 : .max }
        return UInt32(clamping: tenths + attoseconds / 100_000_000_000_000_000)
    }
}
