/// A keyboard key, identified by its position on the keyboard.
///
/// HID Usage Tables 1.12, section 10, defines the keys.
///
/// The keyboard layout of the host determines the character that the key types. The label on the key does not
/// affect the character.
public struct KeyUsage: Hashable, Sendable {
    /// The usage ID of the key on the Keyboard usage page, 0x07.
    public let rawValue: UInt8

    /// Creates a key from a usage ID.
    ///
    /// The usage ID 0 means that no key is pressed.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The Return key, also called Enter.
    public static let enter = KeyUsage(rawValue: 0x28)
    /// The Escape key.
    public static let escape = KeyUsage(rawValue: 0x29)
    /// The Backspace key.
    public static let backspace = KeyUsage(rawValue: 0x2A)
    /// The Tab key.
    public static let tab = KeyUsage(rawValue: 0x2B)
    /// The space bar.
    public static let space = KeyUsage(rawValue: 0x2C)
    /// The Caps Lock key.
    public static let capsLock = KeyUsage(rawValue: 0x39)
    /// The Print Screen key.
    public static let printScreen = KeyUsage(rawValue: 0x46)
    /// The Insert key.
    public static let insert = KeyUsage(rawValue: 0x49)
    /// The Home key.
    public static let home = KeyUsage(rawValue: 0x4A)
    /// The Page Up key.
    public static let pageUp = KeyUsage(rawValue: 0x4B)
    /// The Delete key, which deletes the character to the right of the cursor.
    public static let delete = KeyUsage(rawValue: 0x4C)
    /// The End key.
    public static let end = KeyUsage(rawValue: 0x4D)
    /// The Page Down key.
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
    /// - Parameter number: The number of the function key, 1 to 24.
    /// - Returns: The function key, or `nil` if the number is out of range.
    public static func function(_ number: Int) -> KeyUsage? {
        switch number {
        case 1...12: KeyUsage(rawValue: UInt8(0x3A + number - 1))
        case 13...24: KeyUsage(rawValue: UInt8(0x68 + number - 13))
        default: nil
        }
    }
}
