package import PeripheralKit

/// The text of a state file.
///
/// ```
/// [Peripheral State]
/// Checksum=<SHA-256 of all that follows this line, hexadecimal>
/// Version=1
/// Identifier=com.example.lamp
///
/// [Adapter]
/// …
/// ```
///
/// The first two lines and the form of the third are the same in every future version. The version of the
/// format changes only if earlier versions of this package cannot interpret the new content. A version of
/// this package reads all formats up to its own format, ignores unknown groups and keys, and refuses newer
/// formats.
///
/// The version of the format is also the version of the preserved states. One number thus determines which
/// versions of this package can read a file. The name of the first group contains a space, which is not
/// allowed in the group names of a preserved state.
package enum StateFileFormat {
    package static let version = RestorationState.newestVersion
    /// The maximum size in bytes, more than a database with all 65,535 handles needs.
    package static let maximumSize = 8 << 20
    /// The maximum number of lines.
    ///
    /// Every line uses memory while it is read, even an empty line.
    package static let maximumLineCount = 1 << 17
    /// The length of the lines up to the identifier.
    ///
    /// Each byte of the identifier can occupy two bytes in the file.
    static let maximumHeaderLength = 256 + 2 * RestorationRules.maximumIdentifierLength

    private static let group = "Peripheral State"
    private static let opening = Array("[\(group)]\n".utf8)
    private static let checksumKey = Array("Checksum=".utf8)
    /// The start of the part that the checksum covers.
    private static let checkedStart = opening.count + checksumKey.count + Digest.length + 1

    /// Returns the text of a preserved state.
    ///
    /// - Throws: `unwritable` when the state breaks the rules for names and values, or `tooLarge`.
    package static func text(
        of restorationState: RestorationState,
        identifier: String
    ) throws(RestorationError) -> [UInt8] {
        try RestorationRules.check(restorationState)
        let file = KeyFile()
        file.set(String(version), for: "Version", in: group)
        file.set(identifier, for: "Identifier", in: group)
        for group in restorationState.groups {
            file.add(group)
        }
        let text = seal(file.text[opening.count...])
        guard text.count <= maximumSize, isLineCountBounded(text) else {
            throw tooLarge(identifier)
        }
        return text
    }

    /// Returns the preserved state in a text.
    ///
    /// ``maximumSize`` and ``maximumLineCount`` limit the work for any text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - identifier: The identifier under which the state must have been saved.
    ///   - version: The newest version that is read.
    /// - Returns: The preserved state.
    /// - Throws: `damaged`, `newerVersion`, `tooLarge`, or `foreign` when the state was saved under
    ///   another identifier.
    package static func restorationState(
        in text: [UInt8],
        of identifier: String,
        upTo version: Int = version
    ) throws(RestorationError) -> RestorationState {
        guard text.count <= maximumSize, isLineCountBounded(text) else { throw tooLarge(identifier) }
        guard let checked = checkedPart(of: text) else {
            throw damaged(identifier, "it is not a state file")
        }
        let checksum = text[(opening.count + checksumKey.count)..<(checkedStart - 1)]
        guard checksum.elementsEqual(Digest.hexadecimal(of: checked).utf8) else {
            throw damaged(identifier, "its checksum is wrong")
        }
        // GLib stops at U+0000 and skips text that is not UTF-8.
        guard !text.contains(0), let file = KeyFile(parsing: text) else {
            throw damaged(identifier, "it is not a key file")
        }
        try checkHeader(of: file, identifier: identifier, upTo: version)
        return try restorationState(in: file, identifier: identifier)
    }

    /// Returns the identifier in the first lines of a text.
    ///
    /// Returns `nil` if the text does not begin with the lines of a state file that this version reads. The
    /// method does not compare the checksum.
    package static func identifier(atStartOf text: [UInt8]) -> String? {
        guard let header = header(atStartOf: text), let found = readVersion(of: header),
            (1...version).contains(found)
        else { return nil }
        return unsafe header.value(of: "Identifier", in: group)
    }

    /// Returns the version in the first lines of a text.
    ///
    /// Returns `nil` if the text does not begin with the lines of a state file. The method does not compare
    /// the checksum.
    static func version(atStartOf text: [UInt8]) -> Int? {
        guard let header = header(atStartOf: text) else { return nil }
        return readVersion(of: header)
    }

    private static func header(atStartOf text: [UInt8]) -> KeyFile? {
        guard let checked = checkedPart(of: text), !text.contains(0) else { return nil }
        let lines = checked.prefix(maximumHeaderLength).split(
            separator: UInt8(ascii: "\n"),
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard lines.count == 3 else { return nil }
        return KeyFile(parsing: opening + lines[0] + [UInt8(ascii: "\n")] + lines[1])
    }

    /// Returns the text that consists of a correct checksum and the checked part.
    package static func seal(_ checked: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(checkedStart + checked.count)
        text += opening
        text += checksumKey
        text += Digest.hexadecimal(of: checked).utf8
        text.append(UInt8(ascii: "\n"))
        text += checked
        return text
    }

    /// Returns the checked part, or `nil` if the text does not begin like a state file.
    package static func checkedPart(of text: [UInt8]) -> ArraySlice<UInt8>? {
        guard text.count >= checkedStart, text.starts(with: opening),
            text[opening.count...].starts(with: checksumKey)
        else { return nil }
        return text[checkedStart...]
    }
}

extension StateFileFormat {
    private static func checkHeader(
        of file: borrowing KeyFile,
        identifier: String,
        upTo version: Int
    ) throws(RestorationError) {
        guard let found = readVersion(of: file), found > 0 else {
            throw damaged(identifier, "it has no version")
        }
        guard found <= version else {
            throw RestorationError(
                code: .newerVersion,
                message:
                    "The state of \"\(identifier)\" is not used: a newer version of this program saved it in format "
                    + "\(found), and this version reads formats up to \(version). Install the newer version again, or "
                    + "run without this state.",
                version: found
            )
        }
        guard let other = unsafe file.value(of: "Identifier", in: group) else {
            throw damaged(identifier, "it has no identifier")
        }
        guard other.utf8.elementsEqual(identifier.utf8) else {
            throw RestorationError(
                code: .foreign,
                message:
                    "The file for the state of \"\(identifier)\" contains the state of \"\(other)\" and is not used. "
                    + "It was renamed or copied; move it back, or remove it."
            )
        }
    }

    private static func restorationState(
        in file: borrowing KeyFile,
        identifier: String
    ) throws(RestorationError) -> RestorationState {
        var restorationState = RestorationState()
        for name in file.groups where RestorationRules.isName(name) {
            guard let entries = file.entries(of: name, where: RestorationRules.isName) else {
                throw damaged(identifier, "a value in the group \"\(name)\" is malformed")
            }
            restorationState.append(RestorationState.Group(name, entries: entries))
        }
        return restorationState
    }

    private static func readVersion(of file: borrowing KeyFile) -> Int? {
        unsafe file.value(of: "Version", in: group).flatMap { UInt32($0) }.map { Int($0) }
    }

    private static func isLineCountBounded(_ text: [UInt8]) -> Bool {
        text.count { $0 == UInt8(ascii: "\n") } <= maximumLineCount
    }

    private static func damaged(_ identifier: String, _ reason: String) -> RestorationError {
        RestorationError(
            code: .damaged,
            message: "The state of \"\(identifier)\" is damaged and is not used: \(reason). "
                + "If this happens again, check for a worn or failing disk."
        )
    }

    private static func tooLarge(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .tooLarge,
            message:
                "The state of \"\(identifier)\" is too large: it has more than \(maximumSize) bytes or "
                + "\(maximumLineCount) lines. Preserve less."
        )
    }
}
