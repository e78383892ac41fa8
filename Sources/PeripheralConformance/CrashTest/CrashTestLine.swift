/// A line of output of the program under test.
enum CrashTestLine: Hashable, Sendable {
    /// The state that the program has restored.
    case restored(CrashTestState)
    /// The program has published its peripheral.
    case ready
    /// The central has subscribed to the `log` characteristic.
    case listening
    /// The second central has subscribed to the `durable` or the `audit` characteristic.
    case witnessing
    /// A central has disconnected.
    case left
    case subscribed
    case unsubscribed
    /// The program has saved the log entry with the given number.
    case kept(UInt32)
    case problem(String)

    var text: String {
        switch self {
        case .restored(let state):
            "restored \(state.first) \(state.second) \(state.durable) \(state.isSubscribed ? 1 : 0)"
        case .ready: "ready"
        case .listening: "listening"
        case .witnessing: "witnessing"
        case .left: "left"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .kept(let number): "kept \(number)"
        case .problem(let text): "problem \(text)"
        }
    }

    /// Parses a line; `nil` for any other line, such as a line of a log.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt32($0) }
        switch (words.first, numbers.count) {
        case ("restored", 4):
            self = .restored(
                CrashTestState(
                    first: numbers[0],
                    second: numbers[1],
                    durable: numbers[2],
                    isSubscribed: numbers[3] == 1
                )
            )
        case ("ready", _): self = .ready
        case ("listening", _): self = .listening
        case ("witnessing", _): self = .witnessing
        case ("left", _): self = .left
        case ("subscribed", _): self = .subscribed
        case ("unsubscribed", _): self = .unsubscribed
        case ("kept", 1): self = .kept(numbers[0])
        case ("problem", _): self = .problem(text)
        default: return nil
        }
    }
}
