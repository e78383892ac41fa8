/// A file of groups, keys and values, in the format of GLib (`GKeyFile`), which bluetoothd uses.
///
/// GLib refuses a whole file because of one invalid line. This parser continues and records the line.
package struct KeyFile: Hashable, Sendable {
    /// A setting in the file.
    package struct Entry: Hashable, Sendable {
        package var group: String
        package var key: String
        /// The value in GLib's form, without leading spaces but with trailing spaces.
        package var value: String
        /// The line number, starting at 1.
        package var line: Int
    }

    /// The settings, in the order of the file.
    package private(set) var entries: [Entry] = []
    /// The first line for which GLib refuses the file.
    package private(set) var refusedLine: Int?
    /// Whether the file is longer than the part that was read.
    package private(set) var isCut: Bool

    /// The path of bluetoothd's configuration, unless its command line names another one.
    package static let path = "/etc/bluetooth/main.conf"

    /// The maximum number of bytes to read, more than any real configuration has.
    package static let maximumSize = 65_536

    /// Parses a file.
    ///
    /// Invalid content does not cause an error.
    package init(_ bytes: [UInt8]) {
        isCut = bytes.count > Self.maximumSize
        var group: String?
        let lines = bytes.prefix(Self.maximumSize).split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            read(line, number: index + 1, group: &group)
        }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, number: Int, group: inout String?) {
        let text = line.drop(while: \.isKeyFileSpace)
        guard let first = text.first, first != UInt8(ascii: "#") else { return }
        if first == UInt8(ascii: "[") {
            let name = Self.groupName(text)
            if name == nil { refuse(number) }
            group = name ?? group
        } else if let group, let (key, value) = Self.keyAndValue(text) {
            // A value for a single language is ignored, as in a program without a locale.
            if key.last != "]" { entries.append(Entry(group: group, key: key, value: value, line: number)) }
        } else {
            refuse(number)
        }
    }

    private mutating func refuse(_ line: Int) {
        refusedLine = refusedLine ?? line
    }

    private static func groupName(_ text: ArraySlice<UInt8>) -> String? {
        let text = trimmingEnd(of: text).dropFirst()
        guard text.last == UInt8(ascii: "]"), text.count > 1 else { return nil }
        let name = text.dropLast()
        let isName = name.allSatisfy {
            $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") && $0 >= 0x20 && $0 != 0x7F
        }
        return isName ? String(decoding: name, as: UTF8.self) : nil
    }

    private static func keyAndValue(_ text: ArraySlice<UInt8>) -> (key: String, value: String)? {
        let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let key = trimmingEnd(of: parts[0])
        guard parts.count == 2, isKey(key) else { return nil }
        var value = Array(parts[1].drop(while: \.isKeyFileSpace))
        if value.last == 0x0D { value.removeLast() }
        return (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Returns whether a text is a name, with an optional language in brackets after it.
    private static func isKey(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard let last = name.last, last != UInt8(ascii: " ") else { return false }
        let language = text.dropFirst(name.count)
        guard !language.isEmpty else { return true }
        return language.count >= 2 && language.first == UInt8(ascii: "[")
            && language.last == UInt8(ascii: "]")
            && language.dropFirst().dropLast().allSatisfy(\.isPartOfLanguage)
    }

    private static func trimmingEnd(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let last = text.last, last.isKeyFileSpace { text.removeLast() }
        return text
    }

    /// The file as GLib understands it: an empty file if GLib refuses this one.
    package var effective: KeyFile { refusedLine == nil ? self : KeyFile(entries: []) }

    /// Creates a file from settings.
    package init(entries: [Entry]) {
        self.entries = entries
        isCut = false
    }

    /// The effective value of a key.
    ///
    /// If a key occurs several times, the last value is effective. A new value replaces all earlier values.
    package subscript(_ group: String, _ key: String) -> String? {
        get { entries.last { $0.group == group && $0.key == key }?.value }
        set {
            let index = entries.firstIndex { $0.group == group && $0.key == key }
            entries.removeAll { $0.group == group && $0.key == key }
            guard let newValue else { return }
            let entry = Entry(group: group, key: key, value: newValue, line: 0)
            entries.insert(entry, at: index ?? entries.endIndex)
        }
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
