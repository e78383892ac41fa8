public import PeripheralKit

extension HIDKeyboard {
    /// Presses and releases a key.
    ///
    /// If the call is cancelled, the key is also released.
    ///
    /// - Parameters:
    ///   - stroke: The key, and the modifiers that are held with it.
    ///   - session: The session of the peripheral that declares the keyboard.
    /// - Throws: The errors of `session.notify`.
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

    /// Types a text on hosts that use the keyboard layout of the United States.
    ///
    /// Each character is pressed and released as fast as the slowest host accepts it.
    ///
    /// - Parameters:
    ///   - text: The text: printable ASCII characters, tabs and line ends.
    ///   - session: The session of the peripheral that declares the keyboard.
    /// - Throws: ``UntypableCharacter``, before anything is typed, if the text contains another character;
    ///   the errors of `session.notify`.
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
