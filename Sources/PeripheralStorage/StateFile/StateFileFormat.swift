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
/// The first two lines and the third's form are those of every version to come. The version changes only when earlier
/// versions of this package could not make sense of what is new. So a version reads all up to its own, ignores groups
/// and keys that it does not know, and refuses what is newer. It is the version of the documents as well, so that
/// one number tells who can read a file. The group's name has a space, which no group of a document can have.
package enum StateFileFormat {
    package static let version = RestorationDocument.newestVersion
    /// In bytes; a database with all 65,535 handles takes less.
    package static let maximumSize = 8 << 20
    /// Every line costs memory while it is read, even an empty one.
    package static let maximumLineCount = 1 << 17
    /// The lines up to the identifier's, each byte of which may take two.
    static let maximumHeaderLength = 256 + 2 * RestorationRules.maximumIdentifierLength

    private static let group = "Peripheral State"
    private static let opening = Array("[\(group)]\n".utf8)
    private static let checksumKey = Array("Checksum=".utf8)
    /// Where that begins of which the checksum is taken.
    private static let checkedStart = opening.count + checksumKey.count + Digest.length + 1

    /// The text of a document.
    ///
    /// - Throws: `unwritable` when the document breaks the rules for names and values; `tooLarge`.
    package static func text(
        of document: RestorationDocument,
        identifier: String
    ) throws(RestorationError) -> [UInt8] {
        try RestorationRules.check(document)
        let file = KeyFile()
        file.set(String(version), for: "Version", in: group)
        file.set(identifier, for: "Identifier", in: group)
        for group in document.groups {
            file.add(group)
        }
        let text = seal(file.text[opening.count...])
        guard text.count <= maximumSize, isLineCountBounded(text) else {
            throw tooLarge(identifier)
        }
        return text
    }

    /// The document in a text.
    ///
    /// The work is bounded by the sizes above, whatever the text is.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - identifier: The identifier under which it should have been saved.
    ///   - version: The newest version that is read.
    /// - Returns: The document.
    /// - Throws: `damaged`, `newerVersion`, `foreign` when it was saved under another identifier, `tooLarge`.
    package static func document(
        in text: [UInt8],
        of identifier: String,
        upTo version: Int = version
    ) throws(RestorationError) -> RestorationDocument {
        guard text.count <= maximumSize, isLineCountBounded(text) else { throw tooLarge(identifier) }
        guard let checked = checkedPart(of: text) else {
            throw damaged(identifier, "it is no state file")
        }
        let checksum = text[(opening.count + checksumKey.count)..<(checkedStart - 1)]
        guard checksum.elementsEqual(Digest.hexadecimal(of: checked).utf8) else {
            throw damaged(identifier, "its checksum is wrong")
        }
        // GLib stops at U+0000 and passes over what is not UTF-8.
        guard !text.contains(0), let file = KeyFile(parsing: text) else {
            throw damaged(identifier, "it is no key file")
        }
        try checkHeader(of: file, identifier: identifier, upTo: version)
        return try document(in: file, identifier: identifier)
    }

    /// The identifier in the first lines of a text, `nil` when these are not those of a state file that this version reads.
    ///
    /// The checksum is not compared.
    package static func identifier(atStartOf text: [UInt8]) -> String? {
        guard let header = header(atStartOf: text), let found = readVersion(of: header),
            (1...version).contains(found)
        else { return nil }
        return unsafe header.value(of: "Identifier", in: group)
    }

    /// The version in the first lines of a text, `nil` when these are not those of a state file.
    ///
    /// The checksum is not compared.
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

    /// The text whose checked part is `checked`, with the right checksum.
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

    /// What the checksum is taken of, `nil` when the text does not begin as a state file does.
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
                    "The state of \"\(identifier)\" has the form \(found) of a newer version of this program, which "
                    + "knows the forms up to \(version); install the newer version again, or do without this state.",
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
                    "What is preserved in the place of \"\(identifier)\" is the state of \"\(other)\", and is not used; "
                    + "its file was renamed or copied."
            )
        }
    }

    private static func document(
        in file: borrowing KeyFile,
        identifier: String
    ) throws(RestorationError) -> RestorationDocument {
        var document = RestorationDocument()
        for name in file.groups where RestorationRules.isName(name) {
            guard let entries = file.entries(of: name, where: RestorationRules.isName) else {
                throw damaged(identifier, "a value in the group \"\(name)\" is not well-formed")
            }
            document.append(RestorationDocument.Group(name, entries: entries))
        }
        return document
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
                + "Look for a worn or failing disk if this happens again."
        )
    }

    private static func tooLarge(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .tooLarge,
            message:
                "The state of \"\(identifier)\" has more than \(maximumSize) bytes or \(maximumLineCount) lines; "
                + "preserve less."
        )
    }
}
