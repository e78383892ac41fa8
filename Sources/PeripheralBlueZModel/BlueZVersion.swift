/// A version of BlueZ, in the format of `bluetoothd --version`.
public struct BlueZVersion: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The first number of the version, such as 5 in `5.66`.
    public let major: Int
    /// The second number of the version, such as 66 in `5.66`.
    public let minor: Int

    /// Creates a version from its first and second numbers.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// BlueZ 5.66, the version in Debian 12 "bookworm".
    public static let v5_66 = BlueZVersion(major: 5, minor: 66)
    /// BlueZ 5.82, the version in Debian 13 "trixie".
    public static let v5_82 = BlueZVersion(major: 5, minor: 82)
    /// BlueZ 5.87, the version in Debian "forky".
    ///
    /// Debian "forky" is the Debian release under development.
    public static let v5_87 = BlueZVersion(major: 5, minor: 87)

    /// Creates a version from text such as `5.66`.
    ///
    /// The text must consist of two decimal numbers separated by a dot. For any other text, the initializer
    /// returns `nil`.
    public init?(_ description: String) {
        let numbers = description.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.allSatisfy(\.isNumber) }),
            let major = Int(numbers[0]), let minor = Int(numbers[1])
        else { return nil }
        self.init(major: major, minor: minor)
    }

    /// The two numbers of the version, separated by a dot.
    public var description: String { "\(major).\(minor)" }

    /// Returns whether the first version is older than the second version.
    public static func < (older: BlueZVersion, newer: BlueZVersion) -> Bool {
        (older.major, older.minor) < (newer.major, newer.minor)
    }
}

extension BlueZVersion: ExpressibleByStringLiteral {
    /// Creates a version from a literal such as `"5.66"`.
    ///
    /// If the literal is not a version, the program stops with a fatal error. For text that is known only at
    /// run time, pass a `String` to ``init(_:)``. ``init(_:)`` returns `nil` if the text is not a version.
    public init(stringLiteral text: String) {
        guard let version = BlueZVersion(text) else {
            // Unlike the message of a precondition, this message is printed in release builds too.
            fatalError(
                """
                "\(text)" is not a version of BlueZ. Write two numbers separated by a point, as in "5.66". \
                For text that is known only at run time, assign it to a String and use `BlueZVersion(_:)`, \
                which returns nil.
                """
            )
        }
        self = version
    }
}

/// A text that is not a version of BlueZ.
public struct BlueZVersionError: Error, Hashable, CustomStringConvertible {
    /// The text.
    public let text: String

    /// A sentence that contains the text and the expected format.
    public var description: String {
        "\"\(text)\" is not a version of BlueZ. Write two numbers separated by a point, as in 5.66."
    }
}
