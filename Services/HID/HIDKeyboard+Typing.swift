public import PeripheralKit

extension HIDKeyboard {
    /// Presses and releases a key; it is released also when the call is cancelled.
    ///
    /// - Parameters:
    ///   - stroke: The key, and the modifiers that are held meanwhile.
    ///   - session: The session of the peripheral that declares the keyboard.
    /// - Throws: As `session.notify` does.
    @inline(never)  // A copy in each loop costs kilobytes.
    public func press(_ stroke: KeyStroke, in session: PeripheralSession) async throws {
        do {
            try await send(KeyboardReport(modifiers: stroke.modifiers, keys: [stroke.key]), in: session)
            try await send(KeyboardReport(), in: session)
        } catch {
            releaseAll(in: session)
            throw error
        }
    }

    /// Types a text on hosts that have set the layout of the United States.
    ///
    /// Each character is a key that is pressed and released, as fast as the slowest host takes it.
    ///
    /// - Parameters:
    ///   - text: The text: printable characters of ASCII, tabs and ends of lines.
    ///   - session: The session of the peripheral that declares the keyboard.
    /// - Throws: ``UntypableCharacter`` for a text with another character, before anything is typed; as `session.notify`
    ///   does.
    public func type(_ text: String, in session: PeripheralSession) async throws {
        var strokes: [KeyStroke] = []
        for character in text {
            guard let stroke = KeyStroke(usLayout: character) else {
                throw UntypableCharacter(character: character)
            }
            strokes.append(stroke)
        }
        for stroke in strokes {
            try Task.checkCancellation()
            try await press(stroke, in: session)
        }
    }
}
