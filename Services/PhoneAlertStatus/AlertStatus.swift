public import PeripheralKit

/// The active alerts of a phone: the value of the Alert Status characteristic, 0x2A3F.
///
/// The Phone Alert Status Service 1.0, section 3.1, defines the alert status.
public struct AlertStatus: Hashable, Sendable {
    /// Whether the ringer is sounding (bit 0, Ringer State).
    public var isRingerActive: Bool

    /// Whether the phone is vibrating (bit 1, Vibrate State).
    public var isVibrateActive: Bool

    /// Whether the phone displays an alert (bit 2, Display Alert Status).
    public var isDisplayAlertActive: Bool

    /// Creates a status.
    ///
    /// If you omit all parameters, no alert is active.
    ///
    /// - Parameters:
    ///   - isRingerActive: Whether the ringer is sounding.
    ///   - isVibrateActive: Whether the phone is vibrating.
    ///   - isDisplayAlertActive: Whether the phone displays an alert.
    public init(
        isRingerActive: Bool = false,
        isVibrateActive: Bool = false,
        isDisplayAlertActive: Bool = false
    ) {
        self.isRingerActive = isRingerActive
        self.isVibrateActive = isVibrateActive
        self.isDisplayAlertActive = isDisplayAlertActive
    }
}

extension AlertStatus: GATTValue {
    /// Reads one byte and ignores reserved bits.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        self.init(
            isRingerActive: flags & 0x01 != 0,
            isVibrateActive: flags & 0x02 != 0,
            isDisplayAlertActive: flags & 0x04 != 0
        )
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        var flags: UInt8 = 0
        if isRingerActive { flags |= 0x01 }
        if isVibrateActive { flags |= 0x02 }
        if isDisplayAlertActive { flags |= 0x04 }
        writer.write(flags)
    }
}
