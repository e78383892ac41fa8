/// A key press together with modifier keys.
public struct KeyStroke: Equatable, Sendable {
    /// The key.
    public var key: KeyUsage

    /// The modifier keys that are pressed together with the key.
    public var modifiers: KeyModifiers

    /// Creates a stroke.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - modifiers: The modifier keys that are pressed together with the key.
    public init(_ key: KeyUsage, modifiers: KeyModifiers = []) {
        self.key = key
        self.modifiers = modifiers
    }

    /// Creates the key stroke for a character in the US keyboard layout.
    ///
    /// The keyboard layout covers the printable ASCII characters, tabs and line breaks. For a character that
    /// the keyboard layout does not cover, the initializer returns `nil`.
    ///
    /// - Parameter character: The character.
    public init?(usLayout character: Character) {
        // A line may end with CR and LF, which are a single character.
        guard let code = character.asciiValue else { return nil }
        switch code {
        case 0x0A: self.init(.enter)
        case 0x09: self.init(.tab)
        case 0x61...0x7A: self.init(KeyUsage(rawValue: code - 0x61 + 0x04))
        case 0x41...0x5A: self.init(KeyUsage(rawValue: code - 0x41 + 0x04), modifiers: .leftShift)
        default:
            guard let index = Self.characters.firstIndex(of: code) else { return nil }
            let isShifted = index >= Self.keys.count
            let key = Self.keys[isShifted ? index - Self.keys.count : index]
            self.init(KeyUsage(rawValue: key), modifiers: isShifted ? .leftShift : [])
        }
    }

    private static let keys: [UInt8] = [
        0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
        0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x31, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
    ]
    /// The characters of ``keys`` without a modifier, and then with Shift.
    private static let characters = Array(##"1234567890 -=[]\;'`,./!@#$%^&*() _+{}|:"~<>?"##.utf8)
}

/// The error for a character that has no key in the US keyboard layout.
public struct UntypableCharacter: Error, Equatable, Sendable, CustomStringConvertible {
    /// The character.
    public let character: Character

    /// Creates the error for a character.
    public init(character: Character) {
        self.character = character
    }

    /// A human-readable description of the error.
    public var description: String {
        "“\(character)” cannot be typed: it is not on the keyboard layout of the United States"
    }
}
