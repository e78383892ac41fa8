/// A version of BlueZ, in the form that `bluetoothd --version` prints.
public struct BlueZVersion: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int

    /// Creates a version from two numbers.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// BlueZ 5.66, the version in Debian 12 "bookworm".
    public static let v5_66 = BlueZVersion(major: 5, minor: 66)
    /// BlueZ 5.82, the version in Debian 13 "trixie".
    public static let v5_82 = BlueZVersion(major: 5, minor: 82)
    /// BlueZ 5.87, the version in Debian "forky" during its development.
    public static let v5_87 = BlueZVersion(major: 5, minor: 87)

    /// Creates a version from two decimal numbers with a point between them, such as `5.66`.
    ///
    /// Returns `nil` for any other text.
    public init?(_ description: String) {
        let numbers = description.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.allSatisfy(\.isNumber) }),
            let major = Int(numbers[0]), let minor = Int(numbers[1])
        else { return nil }
        self.init(major: major, minor: minor)
    }

    /// The two numbers with a point between them.
    public var description: String { "\(major).\(minor)" }

    /// Returns whether the first version is older than the second.
    public static func < (older: BlueZVersion, newer: BlueZVersion) -> Bool {
        (older.major, older.minor) < (newer.major, newer.minor)
    }
}

extension BlueZVersion: ExpressibleByStringLiteral {
    /// Creates a version from a literal such as `"5.66"`.
    ///
    /// A malformed literal stops the program. For text that is known only at run time, assign it to a
    /// `String` and use ``init(_:)``, which returns `nil`.
    public init(stringLiteral text: String) {
        guard let version = BlueZVersion(text) else {
            // Unlike a precondition, `fatalError` prints its message in release builds as well.
            fatalError(
                """
                "\(text)" is not a BlueZ version: write two numbers with a point between them, as in "5.66". \
                For text that is known only at run time, assign it to a String and use `BlueZVersion(_:)`, \
                which returns nil.
                """
            )
        }
        self = version
    }
}
