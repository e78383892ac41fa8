public import PeripheralKit

/// The input report that a ``HIDKeyboard`` sends: the pressed keys.
///
/// The report has the format of the boot protocol (USB HID 1.11, appendix B.1).
public struct KeyboardReport: Equatable, Sendable {
    /// The pressed modifier keys.
    public var modifiers: KeyModifiers

    /// The pressed keys other than the modifier keys.
    ///
    /// A report contains at most six keys. If more than six keys are pressed, the report contains the usage
    /// ID ErrorRollOver six times. After a report with ErrorRollOver, the host waits for the next report (HID
    /// Usage Tables 1.12, section 10).
    public var keys: [KeyUsage]

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - modifiers: The pressed modifier keys.
    ///   - keys: The pressed keys other than the modifier keys, in the order in which they were pressed.
    public init(modifiers: KeyModifiers = [], keys: [KeyUsage] = []) {
        self.modifiers = modifiers
        self.keys = keys
    }
}

extension KeyboardReport: GATTValue {
    /// Reads eight bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        modifiers = KeyModifiers(rawValue: try reader.read())
        _ = try reader.read(UInt8.self)
        keys = try reader.readBytes(6).filter { $0 != 0 }.map(KeyUsage.init(rawValue:))
    }

    /// Appends eight bytes: the modifier keys, a reserved byte, and six keys.
    public func encode(into writer: inout ByteWriter) {
        writer.write(modifiers.rawValue)
        writer.write(0 as UInt8)
        for index in 0..<6 {
            let key: UInt8 = index < keys.count ? keys[index].rawValue : 0
            writer.write(keys.count > 6 ? 0x01 : key)
        }
    }
}

/// The modifier keys of a keyboard.
public struct KeyModifiers: OptionSet, Sendable {
    /// The encoded modifier keys.
    public var rawValue: UInt8

    /// Creates a set of modifier keys from the encoded bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The left Control key.
    public static let leftControl = KeyModifiers(rawValue: 1 << 0)
    /// The left Shift key.
    public static let leftShift = KeyModifiers(rawValue: 1 << 1)
    /// The left Alt key (Option on a Mac).
    public static let leftAlt = KeyModifiers(rawValue: 1 << 2)
    /// The left GUI key (Windows, Super, or Command on a Mac).
    public static let leftGUI = KeyModifiers(rawValue: 1 << 3)
    /// The right Control key.
    public static let rightControl = KeyModifiers(rawValue: 1 << 4)
    /// The right Shift key.
    public static let rightShift = KeyModifiers(rawValue: 1 << 5)
    /// The right Alt key (AltGr on many keyboards).
    public static let rightAlt = KeyModifiers(rawValue: 1 << 6)
    /// The right GUI key.
    public static let rightGUI = KeyModifiers(rawValue: 1 << 7)
}

/// The output report that a ``HIDKeyboard`` receives: the LEDs that are on.
///
/// USB HID 1.11, appendix B.1, defines the format of the output report.
public struct KeyboardLEDs: OptionSet, Sendable {
    /// The encoded keyboard LEDs.
    public var rawValue: UInt8

    /// Creates a set of keyboard LEDs from the encoded bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The Num Lock LED.
    public static let numLock = KeyboardLEDs(rawValue: 1 << 0)
    /// The Caps Lock LED.
    public static let capsLock = KeyboardLEDs(rawValue: 1 << 1)
    /// The Scroll Lock LED.
    public static let scrollLock = KeyboardLEDs(rawValue: 1 << 2)
    /// The Compose LED.
    public static let compose = KeyboardLEDs(rawValue: 1 << 3)
    /// The Kana LED.
    public static let kana = KeyboardLEDs(rawValue: 1 << 4)
}

extension KeyboardLEDs: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
