import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct StateFileFormatTests {
    private static let identifier = "com.example.lamp"
    private static let sample = Result { try StateFileFormat.text(of: .sample, identifier: identifier) }

    private func code(of text: [UInt8], identifier: String = identifier) -> RestorationError.Code? {
        do throws(RestorationError) {
            _ = try StateFileFormat.restorationState(in: text, of: identifier)
            return nil
        } catch {
            return error.code
        }
    }

    /// A state file whose checked part is this text.
    private func sealed(_ checked: String) -> [UInt8] {
        StateFileFormat.seal(Array(checked.utf8)[...])
    }

    @Test(arguments: [identifier, "a=b [c]\n#\\ d ", "é", "e\u{301}", "\u{0C}lamp"])
    func documentComesBack(identifier: String) throws {
        let text = try StateFileFormat.text(of: .sample, identifier: identifier)
        #expect(try StateFileFormat.restorationState(in: text, of: identifier) == .sample)
        #expect(StateFileFormat.identifier(atStartOf: text) == identifier)
    }

    @Test(arguments: [21, 22] as [UInt64]) func anyDocumentComesBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let restorationState = RestorationState.random(using: &generator)
            let text = try StateFileFormat.text(of: restorationState, identifier: Self.identifier)
            let read = try StateFileFormat.restorationState(in: text, of: Self.identifier)
            // Written again as well, to compare bytes: texts that look the same are equal to Swift.
            let again = try StateFileFormat.text(of: read, identifier: Self.identifier)
            guard read == restorationState, again == text else {
                Issue.record("\(restorationState), seed \(seed), comes back as \(read)")
                return
            }
        }
    }

    /// GLib drops white space at the beginning of a value, and escapes all of it but one character.
    @Test(arguments: [
        "\u{0C}", "\u{0C}a", "\u{0C}\u{0C} a\\f", "\u{0C} \n", "\u{0C}\\", " \u{0C}", "\\f", "\u{0B}a",
        "\r\ta", "a\u{0C}",
    ])
    func anyBeginningOfAValueComesBack(value: String) throws {
        var restorationState = RestorationState()
        restorationState.append(.init("a", entries: [.init(key: "b", value: value)]))
        let text = try StateFileFormat.text(of: restorationState, identifier: Self.identifier)
        let read = try StateFileFormat.restorationState(in: text, of: Self.identifier)
        #expect(read["a"].map { Array(($0["b"] ?? "").utf8) } == Array(value.utf8))
    }

    @Test(arguments: ["\\f\\f", "\\f\\q", "\\g", "a\\f"])
    func escapesOfNothingAreDamage(value: String) {
        #expect(
            code(of: sealed("Version=1\nIdentifier=\(Self.identifier)\n\n[a]\nb=\(value)\n")) == .damaged
        )
    }

    @Test func formIsThatOfTheDocumentation() throws {
        var restorationState = RestorationState()
        restorationState.append(.init("Subscribers"))
        var adapter = RestorationState.Group("Adapter")
        adapter["Path"] = "/org/bluez/hci0"
        restorationState.append(adapter)
        let text = try StateFileFormat.text(of: restorationState, identifier: Self.identifier)
        #expect(
            String(decoding: text, as: UTF8.self) == """
                [Peripheral State]
                Checksum=\(String(decoding: text[28..<92], as: UTF8.self))
                Version=1
                Identifier=com.example.lamp

                [Subscribers]

                [Adapter]
                Path=/org/bluez/hci0

                """
        )
    }

    @Test func truncatedAtAnyLengthIsDamaged() throws {
        let text = try Self.sample.get()
        for length in 0..<text.count {
            #expect(code(of: Array(text[..<length])) == .damaged, "length \(length)")
        }
    }

    @Test func anyChangedByteIsDamaged() throws {
        let text = try Self.sample.get()
        for position in text.indices {
            for mask: UInt8 in [0x01, 0x20, 0x80, 0xFF, text[position]] {
                var changed = text
                changed[position] ^= mask
                #expect(code(of: changed) == .damaged, "byte \(position) ^ \(mask)")
            }
        }
    }

    @Test func anotherIdentifiersIsForeign() throws {
        let text = try Self.sample.get()
        #expect(code(of: text, identifier: "com.example.Lamp") == .foreign)
        let composed = try StateFileFormat.text(of: .sample, identifier: "é")
        #expect(code(of: composed, identifier: "e\u{301}") == .foreign)
    }

    @Test(arguments: [
        ("Version=2\nIdentifier=com.example.lamp\n", RestorationError.Code.newerVersion),
        ("Version=2\nName=com.example.lamp\n", .newerVersion),
        ("Version=0\nIdentifier=com.example.lamp\n", .damaged),
        ("Version=one\nIdentifier=com.example.lamp\n", .damaged),
        ("Version=99999999999999999999\nIdentifier=com.example.lamp\n", .damaged),
        ("Identifier=com.example.lamp\n", .damaged),
        ("Version=1\n", .damaged),
        ("Version=1\nIdentifier=com.example.lamp\nno key\n", .damaged),
        ("Version=1\nIdentifier=com.example.lamp\n[A]\nB=\\x\n", .damaged),
        ("Version=1\nIdentifier=com.example.lamp\nEncoding=latin1\n", .damaged),
        ("Version=1\nIdentifier=com.example.lamp\n\0", .damaged),
    ])
    func headerIsChecked(checked: String, expected: RestorationError.Code) {
        #expect(code(of: sealed(checked)) == expected)
    }

    @Test func textThatIsNotUTF8IsDamaged() {
        let checked = Array("Version=1\nIdentifier=com.example.lamp\n[A]\nB=".utf8) + [0xC3, 0x28, 0x0A]
        #expect(code(of: StateFileFormat.seal(checked[...])) == .damaged)
    }

    @Test func whatIsUnknownIsPassedOver() throws {
        let text = sealed(
            """
            Version=1
            Identifier=com.example.lamp
            Later=x

            # a comment
            [A b]
            C=1

            [Adapter]
            Path=/org/bluez/hci0
            Name[de]=Lampe
            """
        )
        let restorationState = try StateFileFormat.restorationState(in: text, of: Self.identifier)
        #expect(restorationState.groups.map(\.name) == ["Adapter"])
        #expect(restorationState["Adapter"]?.entries == [.init(key: "Path", value: "/org/bluez/hci0")])
    }

    @Test func sizeIsBounded() {
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: StateFileFormat.maximumLineCount + 1)
        #expect(code(of: lines) == .tooLarge)
        #expect(code(of: [UInt8](repeating: 0, count: StateFileFormat.maximumSize + 1)) == .tooLarge)
    }

    @Test func tooLargeADocumentIsRefused() {
        var group = RestorationState.Group("Values")
        group["2A19"] = String(repeating: "x", count: StateFileFormat.maximumSize)
        var restorationState = RestorationState()
        restorationState.append(group)
        #expect { try StateFileFormat.text(of: restorationState, identifier: Self.identifier) } throws: {
            ($0 as? RestorationError)?.code == .tooLarge
        }
    }

    @Test(arguments: [
        ("", "Key", "value"), ("A b", "Key", "value"), ("A]", "Key", "value"), ("Ä", "Key", "value"),
        ("Peripheral State", "Version", "2"),
        ("A", "", "value"), ("A", "Key[de]", "value"), ("A", "Key=", "value"), ("A", "a\nb", "value"),
        ("A", "Key", "a\0b"),
    ])
    func whatCannotBeWrittenIsRefused(group: String, key: String, value: String) {
        var refused = RestorationState.Group(group)
        refused[key] = value
        var restorationState = RestorationState()
        restorationState.append(refused)
        #expect { try StateFileFormat.text(of: restorationState, identifier: Self.identifier) } throws: {
            ($0 as? RestorationError)?.code == .unwritable
        }
    }
}
