import TestSupport
import Testing

@testable import PeripheralStorage

@Suite(.timeLimit(.minutes(1)))
struct StateFileNameTests {
    private static let hostile = [
        "", ".", "..", "../../etc/passwd", "/", "/etc/passwd", ".hidden", "a/b", "a\0b", "a\nb", "a b", "~",
        "-rf", "*",
        "CON", "Türschloß", "🔒", "e\u{301}", "é", "com.example.lamp", "com.example.Lamp", "COM.EXAMPLE.LAMP",
        String(repeating: "x", count: 4096), String(repeating: "x", count: 4095),
        String(repeating: "/", count: 4096),
        "com.example.lamp.state", "com.example.lamp.lock", "com.example.lamp.aside-1",
    ]

    @Test func differentIdentifiersHaveDifferentNamesEvenWhereCaseIsIgnored() {
        var generator = SeededGenerator(seed: 41)
        var identifiers = Set(Self.hostile.map { Array($0.utf8) })
        for _ in 0..<2_000 {
            let bytes = generator.plausibleBytes(count: Int.random(in: 1...8, using: &generator))
            identifiers.insert(Array(String(decoding: bytes, as: UTF8.self).utf8))
        }
        let names = Set(
            identifiers.map {
                StateFileName(identifier: String(decoding: $0, as: UTF8.self)).state.lowercased()
            }
        )
        #expect(names.count == identifiers.count)
    }

    @Test(arguments: hostile) func nameIsFitForAnyFileSystem(identifier: String) {
        let name = StateFileName(identifier: identifier)
        for file in [
            name.state, name.lock, name.setAside(1), name.setAside(999_999_999),
            name.state(ofVersion: Int(UInt32.max)),
        ] {
            #expect(file.utf8.count < 120)
            #expect(!file.hasPrefix("."))
            #expect(
                file.utf8.allSatisfy { (0x2D...0x7A).contains($0) && $0 != UInt8(ascii: "/") && $0 != 0x5C }
            )
        }
        #expect(name.state == StateFileName(identifier: identifier).state)
    }

    @Test func readablePartHelpsPeople() {
        #expect(StateFileName(identifier: "com.example.lamp").state.hasPrefix("com.example.lamp-"))
    }

    @Test func ownFilesAreTold() {
        let name = StateFileName(identifier: "com.example.lamp")
        #expect(name.numberSetAside(name.setAside(7)) == 7)
        for other in [
            name.state, name.state(ofVersion: 7), name.setAside(0), name.setAside(-1), name.setAside(.max),
            name.setAside(1) + "0x",
        ] {
            #expect(name.numberSetAside(other) == nil)
        }
        #expect(name.isTemporary(name.state + ".A1B2C3"))
        for other in [
            name.state, name.lock, name.setAside(1), name.state + ".A1B2C34", "x" + name.state + ".A1B2C3",
        ] {
            #expect(!name.isTemporary(other))
        }
    }
}
