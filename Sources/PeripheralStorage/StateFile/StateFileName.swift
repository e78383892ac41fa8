/// The names of the files in which the state of one identifier is kept.
///
/// An identifier may hold anything, so its readable part is for people only; what tells files apart is the digest, which
/// stays different on a file system that ignores case. Every name is shorter than 120 bytes, since encrypted file systems
/// take no more than 143.
struct StateFileName: Equatable {
    private static let suffix = ".state"
    private static let readableLength = 64
    private static let digestLength = 32

    /// What all names of the identifier begin with.
    private let stem: String

    init(identifier: String) {
        let readable = identifier.utf8.prefix(Self.readableLength).map(Self.readable)
        let start = String(decoding: readable, as: UTF8.self)
        let digest = Digest.hexadecimal(of: Array(identifier.utf8)[...]).prefix(Self.digestLength)
        stem = (start.hasPrefix(".") ? "_" + start.dropFirst() : start) + "-" + digest
    }

    /// The file with the state.
    var state: String { stem + Self.suffix }

    /// The file that is locked while the record is open; it is empty, and stays.
    var lock: String { stem + ".lock" }

    /// The file that was set aside as the `number`th.
    func setAside(_ number: Int) -> String { "\(stem).aside-\(number)" }

    /// The number of a file that was set aside, `nil` when a name is none of these.
    func numberSetAside(_ name: String) -> Int? {
        let start = "\(stem).aside-"
        guard name.hasPrefix(start), let number = Int(name.dropFirst(start.count)), setAside(number) == name,
            (1..<1_000_000_000).contains(number)
        else { return nil }
        return number
    }

    /// The file with the state that a newer version has saved, which only that version reads.
    func state(ofVersion version: Int) -> String { stem + Self.suffix(ofVersion: version) }

    /// Whether a name is that of a file with a state that this version may load, of any identifier.
    static func isState(_ name: String) -> Bool {
        name.hasSuffix(suffix) || name.hasSuffix(suffix(ofVersion: StateFileFormat.version))
    }

    /// Whether a name is that of a file with the state that this version may load.
    func isState(_ name: String) -> Bool {
        name == state || name == state(ofVersion: StateFileFormat.version)
    }

    private static func suffix(ofVersion version: Int) -> String { ".version-\(version)" }

    /// Whether a name is that of a file which was being written: the state's with a dot and six characters more, as GLib
    /// makes it.
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
