import ExampleSupport
import PeripheralHID
import PeripheralKit
import PeripheralTesting

extension TypingKeyboard {
    /// What a host does that is paired with the keyboard; it shows the line that it gets.
    ///
    /// - Throws: ``MistypedLine`` when that is another than was to be typed.
    func show(_ host: VirtualCentral, expecting text: String) async throws {
        try await host.connect()
        try await host.pair(.justWorks)
        let map = try await host.read(keyboard.hid.reportMap)
        Terminal.print("host:     paired, and has read the report map of \(map.count) bytes.")
        try await host.subscribe(to: keyboard.keys.value)
        let line = try await line(typedOn: host)
        Terminal.print("host:     has got: \(line)")
        guard line == text else { throw MistypedLine(line: line, text: text) }
        // As a host does when its own caps lock is pressed.
        try await host.write(keyboard.leds.value, KeyboardLEDs.capsLock.gattBytes)
    }

    /// The next line that is typed, as a host with the layout of the United States understands it.
    func line(typedOn host: some TestCentral) async throws -> String {
        let characters = (UInt8(ascii: " ")...UInt8(ascii: "~")).map { Character(UnicodeScalar($0)) }
        var line = ""
        while true {
            let report = try KeyboardReport(gattBytes: await host.nextUpdate(of: keyboard.keys.value))
            guard let key = report.keys.first else { continue }
            if key == .enter { return line }
            let stroke = KeyStroke(key, modifiers: report.modifiers)
            line.append(characters.first { KeyStroke(usLayout: $0) == stroke } ?? "?")
        }
    }
}

/// A host has got another line than was typed.
struct MistypedLine: Error, CustomStringConvertible {
    var line: String
    var text: String

    var description: String { "The host has got \"\(line)\", and not \"\(text)\"." }
}
