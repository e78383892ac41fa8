import ExampleSupport
import PeripheralHID
import PeripheralKit
import PeripheralTesting

extension TypingKeyboard {
    /// Acts as a paired host, and shows the line that it receives.
    ///
    /// - Throws: ``MistypedLine`` when the line differs from the expected text.
    func show(_ host: VirtualCentral, expecting text: String) async throws {
        try await host.connect()
        try await host.pair(.justWorks)
        let map = try await host.read(keyboard.hid.reportMap)
        Terminal.print("host:     paired. The keyboard describes its keys in \(map.count) bytes.")
        try await host.subscribe(to: keyboard.keys.value)
        let line = try await line(typedOn: host)
        Terminal.print("host:     received: \(line)")
        guard line == text else { throw MistypedLine(line: line, text: text) }
        // A host does this when its own caps lock key is pressed.
        try await host.write(keyboard.leds.value, KeyboardLEDs.capsLock.gattBytes)
    }

    /// Returns the next typed line, as a host with the layout of the United States reads it.
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

/// The error when a host receives a line that differs from the typed text.
struct MistypedLine: Error, CustomStringConvertible {
    var line: String
    var text: String

    var description: String { "The host received \"\(line)\" instead of \"\(text)\"." }
}
