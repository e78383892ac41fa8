/// A version of BlueZ, as `bluetoothd --version` prints it.
public struct BlueZVersion: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int

    /// Makes a version of two numbers.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// BlueZ 5.66, which is in Debian 12 "bookworm".
    public static let v5_66 = BlueZVersion(major: 5, minor: 66)
    /// BlueZ 5.82, which is in Debian 13 "trixie".
    public static let v5_82 = BlueZVersion(major: 5, minor: 82)
    /// BlueZ 5.87, which is in the next Debian, "forky", while that is made.
    public static let v5_87 = BlueZVersion(major: 5, minor: 87)

    /// Reads two decimal numbers with a point between, as in `5.66`; `nil` if the text is anything else.
    public init?(_ description: String) {
        let numbers = description.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.allSatisfy(\.isNumber) }),
            let major = Int(numbers[0]), let minor = Int(numbers[1])
        else { return nil }
        self.init(major: major, minor: minor)
    }

    /// The numbers with a point between.
    public var description: String { "\(major).\(minor)" }

    /// Whether the first is older than the second.
    public static func < (older: BlueZVersion, newer: BlueZVersion) -> Bool {
        (older.major, older.minor) < (newer.major, newer.minor)
    }
}

extension BlueZVersion: ExpressibleByStringLiteral {
    /// Reads a literal such as `"5.66"`; one that is no version ends the program.
    ///
    /// For text that is known only at run time, assign it to a `String` and use ``init(_:)``, which returns `nil`.
    public init(stringLiteral text: String) {
        guard let version = BlueZVersion(text) else {
            // Unlike that of a precondition, this message is printed by release builds too.
            fatalError(
                """
                "\(text)" is no version of BlueZ: write two numbers with a point between, as in "5.66". \
                For text that is known only at run time, assign it to a String and use `BlueZVersion(_:)`, \
                which returns nil.
                """
            )
        }
        self = version
    }
}
