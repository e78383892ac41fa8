import ExampleSupport

/// A simulated lamp.
actor Lamp {
    /// The state of the lamp, after each change.
    nonisolated let changes: AsyncStream<Bool>

    private(set) var isOn = false
    private let changed: AsyncStream<Bool>.Continuation

    init() {
        (changes, changed) = AsyncStream.makeStream()
    }

    func set(_ isOn: Bool) {
        self.isOn = isOn
        Terminal.print("lamp: \(isOn ? "on" : "off")")
        changed.yield(isOn)
    }
}

/// A simulated display of the lamp.
enum Display {
    static func show(_ passkey: UInt32) {
        let digits = String(passkey)
        Terminal.print("lamp: the passkey is \(String(repeating: "0", count: 6 - digits.count))\(digits)")
    }
}
