/// A key of a keyboard, by its place on it, whatever is printed there (HID Usage Tables 1.12, section 10).
///
/// What it stands for is decided by the layout that the host has set.
public struct KeyUsage: Hashable, Sendable {
    /// The number of the key on the usage page Keyboard, 0x07.
    public let rawValue: UInt8

    /// Makes a key of its number; 0 is none.
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
    /// Delete, to the right of the cursor.
    public static let delete = KeyUsage(rawValue: 0x4C)
    /// End.
    public static let end = KeyUsage(rawValue: 0x4D)
    /// Page Down.
    public static let pageDown = KeyUsage(rawValue: 0x4E)
    /// The arrow to the right.
    public static let rightArrow = KeyUsage(rawValue: 0x4F)
    /// The arrow to the left.
    public static let leftArrow = KeyUsage(rawValue: 0x50)
    /// The arrow down.
    public static let downArrow = KeyUsage(rawValue: 0x51)
    /// The arrow up.
    public static let upArrow = KeyUsage(rawValue: 0x52)

    /// A function key.
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
