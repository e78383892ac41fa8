import PeripheralHID
import PeripheralKit
import PeripheralTesting
import Testing

@testable import keyboard

@Suite(.timeLimit(.minutes(1)))
struct KeyboardTests {
    @Test func typesEachLine() async throws {
        let keyboard = TypingKeyboard(name: "Keyboard")
        let ascii = String((UInt8(ascii: " ")...UInt8(ascii: "~")).map { Character(UnicodeScalar($0)) })
        try await keyboard.peripheral.test { host, session in
            try await host.pair(.justWorks)
            try await host.subscribe(to: keyboard.keyboard.keys.value)
            let (lines, type) = AsyncStream.makeStream(of: String.self)
            async let _: Void = keyboard.type(lines, over: session)
            // A line that cannot be typed is reported, and the next line is typed.
            for line in [ascii, "Zürich", "Hello, World!"] { type.yield(line) }
            let first = try await keyboard.line(typedOn: host)
            let second = try await keyboard.line(typedOn: host)
            #expect([first, second] == [ascii, "Hello, World!"])
        }
    }
}
