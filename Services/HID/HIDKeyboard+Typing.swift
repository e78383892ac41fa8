public import PeripheralKit

extension HIDKeyboard {
    /// Presses and releases a key.
    ///
    /// The keyboard releases the key even if the task is cancelled during the call.
    ///
    /// - Parameters:
    ///   - stroke: The key to press, and the modifier keys.
    ///   - session: The session of a peripheral. The peripheral must declare the keyboard.
    /// - Throws: The errors that `session.notify` throws.
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

    /// Types text on hosts that use the US keyboard layout.
    ///
    /// The slowest host determines the typing speed. The keyboard releases each key before it presses the
    /// next key.
    ///
    /// - Parameters:
    ///   - text: The text, which consists of printable ASCII characters, tabs and line breaks.
    ///   - session: The session of a peripheral. The peripheral must declare the keyboard.
    /// - Throws: ``UntypableCharacter`` if the keyboard layout has no key for a character in the text. The
    ///   method throws ``UntypableCharacter`` before the keyboard types any character. If the task is
    ///   cancelled, the method throws `CancellationError`. The method rethrows the errors of
    ///   `session.notify`.
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
