/// A version of BlueZ, in the format of `bluetoothd --version`.
public struct BlueZVersion: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The first number of the version, such as 5 in `5.66`.
    public let major: Int
    /// The second number of the version, such as 66 in `5.66`.
    public let minor: Int
    /// The text of a literal that is not a version; `nil` for a version.
    package let malformedLiteral: String?

    /// Creates a version from its first and second numbers.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
        malformedLiteral = nil
    }

    private init(malformed text: String) {
        major = 0
        minor = 0
        malformedLiteral = text
    }

    /// BlueZ 5.66, the version in Debian 12 "bookworm".
    public static let v5_66 = BlueZVersion(major: 5, minor: 66)
    /// BlueZ 5.82, the version in Debian 13 "trixie".
    public static let v5_82 = BlueZVersion(major: 5, minor: 82)
    /// BlueZ 5.87, the version in Debian "forky".
    ///
    /// Debian "forky" is the Debian release under development.
    public static let v5_87 = BlueZVersion(major: 5, minor: 87)

    /// The versions whose behavior is known, which tests and emulated runs can imitate.
    ///
    /// On a device, the framework treats a newer version like the newest known version.
    public static let known: ClosedRange<BlueZVersion> = v5_66...v5_87

    /// Creates a version to imitate from a text that is known only at run time, such as `5.82`.
    ///
    /// ```swift
    /// let version = try BlueZVersion(imitated: arguments[1])    // for withEmulatedBlueZ, or a test
    /// ```
    ///
    /// - Throws: ``BlueZVersionError`` if the text is not a version, or not one of the ``known`` versions.
    public init(imitated text: String) throws(BlueZVersionError) {
        self.init(stringLiteral: text)
        if let error = BlueZVersionError(imitating: self) { throw error }
    }

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
    ///
    /// For a malformed literal, the text is the literal and a remark: `"5,66" (not a version)`.
    public var description: String {
        malformedLiteral.map { "\"\($0)\" (not a version)" } ?? "\(major).\(minor)"
    }

    /// Returns whether the first version is older than the second version.
    public static func < (older: BlueZVersion, newer: BlueZVersion) -> Bool {
        (older.major, older.minor) < (newer.major, newer.minor)
    }
}

extension BlueZVersion: ExpressibleByStringLiteral {
    /// Creates a version from a literal such as `"5.66"`.
    ///
    /// A literal that is not a version, such as `"5,66"`, does not stop the program. Validation for such a
    /// version finds an error. A test or a run with such a version throws an error.
    ///
    /// For text that is known only at run time, pass a `String` to ``init(_:)``. ``init(_:)`` returns `nil`
    /// if the text is not a version.
    public init(stringLiteral text: String) {
        self = BlueZVersion(text) ?? BlueZVersion(malformed: text)
    }
}

/// A text that is not a version of BlueZ, or not one that can be imitated.
public struct BlueZVersionError: Error, Hashable, CustomStringConvertible {
    /// The text.
    public let text: String

    private let isVersion: Bool

    init(text: String) {
        self.text = text
        isVersion = false
    }

    /// - Returns: `nil` if the version is not a malformed literal.
    package init?(_ version: BlueZVersion) {
        guard let literal = version.malformedLiteral else { return nil }
        self.init(text: literal)
    }

    /// - Returns: `nil` if the version can be imitated.
    package init?(imitating version: BlueZVersion) {
        guard !BlueZVersion.known.contains(version) else { return nil }
        text = version.malformedLiteral ?? version.description
        isVersion = version.malformedLiteral == nil
    }

    /// A sentence that contains the text, and the expected format or the known versions.
    public var description: String {
        let known = BlueZVersion.known
        return isVersion
            ? "BlueZ \(text) cannot be imitated. Use a version from \(known.lowerBound) to \(known.upperBound)."
            : "\"\(text)\" is not a version of BlueZ. Write two numbers separated by a point, as in 5.66."
    }
}
