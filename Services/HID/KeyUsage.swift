/// A key of a keyboard, identified by its position (HID Usage Tables 1.12, section 10).
///
/// The layout that is set on the host determines which character the key types, not the label on the key.
public struct KeyUsage: Hashable, Sendable {
    /// The number of the key on the usage page Keyboard, 0x07.
    public let rawValue: UInt8

    /// Creates a key from its number; 0 means no key.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Return, also called Enter.
    public static let enter = KeyUsage(rawValue: 0x28)
    /// Escape.
    public static let escape = KeyUsage(rawValue: 0x29)
    /// Backspace.
    public static let backspace = KeyUsage(rawValue: 0x2A)
    /// Tab.
    public static let tab = KeyUsage(rawValue: 0x2B)
    /// The space bar.
    public static let space = KeyUsage(rawValue: 0x2C)
    /// Caps Lock.
    public static let capsLock = KeyUsage(rawValue: 0x39)
    /// Print Screen.
    public static let printScreen = KeyUsage(rawValue: 0x46)
    /// Insert.
    public static let insert = KeyUsage(rawValue: 0x49)
    /// Home.
    public static let home = KeyUsage(rawValue: 0x4A)
    /// Page Up.
    public static let pageUp = KeyUsage(rawValue: 0x4B)
    /// Delete, which deletes to the right of the cursor.
    public static let delete = KeyUsage(rawValue: 0x4C)
    /// End.
    public static let end = KeyUsage(rawValue: 0x4D)
    /// Page Down.
    public static let pageDown = KeyUsage(rawValue: 0x4E)
    /// The right arrow key.
    public static let rightArrow = KeyUsage(rawValue: 0x4F)
    /// The left arrow key.
    public static let leftArrow = KeyUsage(rawValue: 0x50)
    /// The down arrow key.
    public static let downArrow = KeyUsage(rawValue: 0x51)
    /// The up arrow key.
    public static let upArrow = KeyUsage(rawValue: 0x52)

    /// Returns a function key.
    ///
    /// - Parameter number: 1 to 24.
    /// - Returns: The key; `nil` for another number.
    public static func function(_ number: Int) -> KeyUsage? {
        switch number {
        case 1...12: KeyUsage(rawValue: UInt8(0x3A + number - 1))
        case 13...24: KeyUsage(rawValue: UInt8(0x68 + number - 13))
        default: nil
        }
    }
}
