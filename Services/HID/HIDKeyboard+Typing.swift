public import PeripheralKit

extension HIDKeyboard {
    /// Presses and releases a key.
    ///
    /// If the call is cancelled, the keyboard still releases the key.
    ///
    /// - Parameters:
    ///   - stroke: The key and the modifiers.
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
    /// The slowest host determines the typing speed. The keyboard releases each key before it presses the
    /// next key.
    ///
    /// - Parameters:
    ///   - text: The text, which consists of printable ASCII characters, tabs and line ends.
    ///   - session: The session of the peripheral that declares the keyboard.
    /// - Throws: ``UntypableCharacter`` if the text contains any other character. The keyboard then types
    ///   nothing. Also throws the errors of `session.notify`, and `CancellationError`.
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
