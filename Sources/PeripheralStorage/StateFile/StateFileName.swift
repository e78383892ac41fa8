/// The names of the files that hold the state of one identifier.
///
/// An identifier may contain any text. The readable part of the name is for people only. The digest
/// distinguishes files, even on a file system that ignores case. Every name is shorter than 120 bytes,
/// because encrypted file systems limit names to 143 bytes.
struct StateFileName: Equatable {
    private static let suffix = ".state"
    private static let readableLength = 64
    private static let digestLength = 32

    /// The common beginning of all names of the identifier.
    private let stem: String

    init(identifier: String) {
        let readable = identifier.utf8.prefix(Self.readableLength).map(Self.readable)
        let start = String(decoding: readable, as: UTF8.self)
        let digest = Digest.hexadecimal(of: Array(identifier.utf8)[...]).prefix(Self.digestLength)
        stem = (start.hasPrefix(".") ? "_" + start.dropFirst() : start) + "-" + digest
    }

    /// The file with the state.
    var state: String { stem + Self.suffix }

    /// The file that is locked while the record is open.
    ///
    /// The file is empty and is never removed.
    var lock: String { stem + ".lock" }

    /// Returns the name of the file set aside with this number.
    func setAside(_ number: Int) -> String { "\(stem).aside-\(number)" }

    /// Returns the number of a file that was set aside, or `nil` for any other name.
    func numberSetAside(_ name: String) -> Int? {
        let start = "\(stem).aside-"
        guard name.hasPrefix(start), let number = Int(name.dropFirst(start.count)), setAside(number) == name,
            (1..<1_000_000_000).contains(number)
        else { return nil }
        return number
    }

    /// Returns the name of the file that a newer version saved and that only that version reads.
    func state(ofVersion version: Int) -> String { stem + Self.suffix(ofVersion: version) }

    /// Returns whether a file holds a state of any identifier that this version may load.
    static func isState(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.hasSuffix(suffix(ofVersion: StateFileFormat.version))
    }

    /// Returns whether a file holds the state that this version may load.
    func isState(_ name: String) -> Bool {
        name == state || name == state(ofVersion: StateFileFormat.version)
    }

    /// Returns whether a file was set aside, or holds a state that a certain version reads.
    func isCopy(_ name: String) -> Bool {
        let start = stem + ".version-"
        return numberSetAside(name) != nil
            || (name.hasPrefix(start) && Int(name.dropFirst(start.count)) != nil)
    }

    private static func suffix(ofVersion version: Int) -> String { ".version-\(version)" }

    /// Returns whether a file is a temporary file of a save.
    ///
    /// GLib names a temporary file like the state file, followed by a dot and six characters.
    func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(state + ".") && name.utf8.count == state.utf8.count + 7
    }

    private static func readable(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            byte
        default: UInt8(ascii: "_")
        }
    }
}
