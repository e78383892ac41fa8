import ExampleSupport

/// What stands for the lamp.
actor Lamp {
    /// Whether it is on, each time that this has changed.
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

/// What stands for the display of the lamp.
actor Display {
    /// What it has shown, for somebody who types it.
    nonisolated let passkeys: AsyncStream<UInt32>

    private let shown: AsyncStream<UInt32>.Continuation

    init() {
        (passkeys, shown) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func show(_ passkey: UInt32) {
        let digits = String(passkey)
        Terminal.print("lamp: the passkey is \(String(repeating: "0", count: 6 - digits.count))\(digits)")
        shown.yield(passkey)
    }
}
