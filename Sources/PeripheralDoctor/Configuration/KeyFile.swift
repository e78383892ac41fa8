/// A file of groups, keys and values, as GLib reads it (`GKeyFile`), and bluetoothd with it.
///
/// Unlike GLib, which refuses a whole file for one line, this reads on and remembers the line.
package struct KeyFile: Hashable, Sendable {
    /// What is set where.
    package struct Entry: Hashable, Sendable {
        package var group: String
        package var key: String
        /// As GLib has it: without spaces before it, with those behind it.
        package var value: String
        /// The number of the line, the first being 1.
        package var line: Int
    }

    /// In the order of the file.
    package private(set) var entries: [Entry] = []
    /// The first line for which GLib refuses the file.
    package private(set) var refusedLine: Int?
    /// Whether the file goes on beyond what was read of it.
    package private(set) var isCut: Bool

    /// More than any configuration has; what is behind is not read.
    package static let maximumSize = 65_536

    /// Reads a file; nothing in it makes that fail.
    package init(_ bytes: some Collection<UInt8>) {
        isCut = bytes.count > Self.maximumSize
        var group: String?
        let lines = bytes.prefix(Self.maximumSize).split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            read(line, number: index + 1, group: &group)
        }
    }

    private mutating func read(_ line: some Collection<UInt8>, number: Int, group: inout String?) {
        let text = line.drop(while: \.isKeyFileSpace)
        guard let first = text.first, first != UInt8(ascii: "#") else { return }
        if first == UInt8(ascii: "[") {
            let name = Self.groupName(text)
            if name == nil { refuse(number) }
            group = name ?? group
        } else if let group, let (key, value) = Self.keyAndValue(text) {
            // What is for one language alone is for no program without one.
            if key.last != "]" { entries.append(Entry(group: group, key: key, value: value, line: number)) }
        } else {
            refuse(number)
        }
    }

    private mutating func refuse(_ line: Int) {
        refusedLine = refusedLine ?? line
    }

    private static func groupName(_ text: some Collection<UInt8>) -> String? {
        let text = trimmingEnd(of: text).dropFirst()
        guard text.last == UInt8(ascii: "]"), text.count > 1 else { return nil }
        let name = text.dropLast()
        let isName = name.allSatisfy {
            $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") && $0 >= 0x20 && $0 != 0x7F
        }
        return isName ? String(decoding: name, as: UTF8.self) : nil
    }

    private static func keyAndValue(_ text: some Collection<UInt8>) -> (key: String, value: String)? {
        let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let key = trimmingEnd(of: parts[0])
        guard parts.count == 2, isKey(key) else { return nil }
        var value = Array(parts[1].drop(while: \.isKeyFileSpace))
        if value.last == 0x0D { value.removeLast() }
        return (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// A name, and perhaps a language in brackets behind it.
    private static func isKey(_ text: [UInt8]) -> Bool {
        let name = text.prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard let last = name.last, last != UInt8(ascii: " ") else { return false }
        let language = text.dropFirst(name.count)
        guard !language.isEmpty else { return true }
        return language.count >= 2 && language.first == UInt8(ascii: "[")
            && language.last == UInt8(ascii: "]")
            && language.dropFirst().dropLast().allSatisfy(\.isPartOfLanguage)
    }

    private static func trimmingEnd(of text: some Collection<UInt8>) -> [UInt8] {
        var text = Array(text)
        while let last = text.last, last.isKeyFileSpace { text.removeLast() }
        return text
    }

    /// The value that counts: the last one, where a key is there twice.
    package subscript(_ group: String, _ key: String) -> String? {
        entries.last { $0.group == group && $0.key == key }?.value
    }
}

extension UInt8 {
    fileprivate var isPartOfLanguage: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "@"), 0x80...:
            true
        default: false
        }
    }

    fileprivate var isKeyFileSpace: Bool {
        self == 0x20 || (0x09...0x0D).contains(self)
    }
}
