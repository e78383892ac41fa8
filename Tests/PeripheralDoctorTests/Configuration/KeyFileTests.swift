import CPeripheralGLib
import PeripheralBlueZModel
import TestSupport
import Testing

/// Key files are read as GLib reads them, and junk does no harm.
@Suite(.timeLimit(.minutes(1)))
struct KeyFileTests {
    private static func file(_ text: String) -> KeyFile { KeyFile(Array(text.utf8)) }

    @Test(
        arguments: [
            ("[General]\nName=Lamp", "Lamp"),
            ("# comment\n\n  [General]  \n  Name  =   Lamp", "Lamp"),
            ("[General]\r\nName = Lamp\r\n", "Lamp"),
            ("[General]\nName=first\n[Other]\nName=no\n[General]\nName=last", "last"),
            ("[General]\nName=a=b", "a=b"),
            ("[General]\nName= Lamp ", "Lamp "),
            ("[General]\nName=", ""),
            ("[General]\n#Name=Lamp", nil),
            ("[general]\nName=Lamp", nil),
            ("[General]\nname=Lamp", nil),
            ("[General]\nName=Lamp\nName[de]=Lampe", "Lamp"),
            ("", nil),
        ] as [(String, String?)]
    )
    func readsValues(text: String, name: String?) {
        let file = Self.file(text)
        #expect(file["General", "Name"] == name)
        #expect(file.refusedLine == nil)
        #expect(!file.isCut)
    }

    @Test(
        arguments: [
            ("Name=Lamp", 1),
            ("[General]\nNonsense\nName=Lamp", 2),
            ("[General]\n=Lamp\nName=Lamp", 2),
            ("[General]\n\n[Broken\nName=Lamp", 3),
            ("[General]\n[]\nName=Lamp", 2),
            ("[General]\n[a[b]\nName=Lamp", 2),
        ]
    )
    func remembersTheLineThatGLibRefuses(text: String, line: Int) {
        #expect(Self.file(text).refusedLine == line)
        #expect(Self.file(text + "\n[General]\nName=Lamp")["General", "Name"] == "Lamp", "it reads on")
    }

    @Test func hugeFileIsCut() {
        let line = Array("Key = value\n".utf8)
        let bytes = Array("[General]\n".utf8) + Array(repeatElement(line, count: 20_000).joined())
        let file = KeyFile(bytes)
        #expect(file.isCut)
        #expect(file.entries.count <= KeyFile.maximumSize / line.count)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func junkDoesNoHarm(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let bytes = generator.bytes(count: Int.random(in: 0...400, using: &generator))
            let entries = KeyFile(bytes).entries
            #expect(entries.count <= bytes.count { $0 == UInt8(ascii: "=") }, "seed \(seed)")
        }
    }

    /// Files of plausible pieces, against GLib itself.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func agreesWithGLib(seed: UInt64) {
        let pieces = [
            "[General]", "[GATT]", "[ GATT ]", " [General]", "[General] ", "[x", "x]", "[]", "Name", "Client",
            "=", " = ", "true", "le ", "\t", " ", "#", "# remark", "\n", "\n", "\n", "\r\n", "é", "=x=y",
        ]
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<200 {
            let count = Int.random(in: 0...14, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let ours = Self.file(text)
            let glib = GLibKeyFile(text)
            #expect((ours.refusedLine == nil) == (glib != nil), "seed \(seed): \(text.debugDescription)")
            guard let glib, ours.refusedLine == nil else {
                refused += 1
                continue
            }
            for entry in ours.entries {
                #expect(
                    ours[entry.group, entry.key] == glib.value(entry.group, entry.key),
                    "seed \(seed): \(text.debugDescription)"
                )
            }
        }
        #expect((1..<200).contains(refused))
    }
}

/// A key file in GLib's hands; `nil` when it refuses it.
private final class GLibKeyFile {
    private let file: OpaquePointer

    init?(_ text: String) {
        guard let file = g_key_file_new() else { return nil }
        self.file = file
        let size = gsize(text.utf8.count)
        guard size == 0 || g_key_file_load_from_data(file, text, size, GKeyFileFlags(rawValue: 0), nil) != 0
        else {
            return nil
        }
    }

    deinit {
        g_key_file_free(file)
    }

    func value(_ group: String, _ key: String) -> String? {
        guard let value = g_key_file_get_value(file, group, key, nil) else { return nil }
        defer { g_free(value) }
        return String(cString: value)
    }
}
