import ExampleSupport
import PeripheralKit
import PeripheralTesting

/// Serves the texts on an emulated Bluetooth stack, to a virtual central that shows them.
func runEmulated(
    _ source: TextPeripheral,
    _ texts: AsyncStream<String>,
    _ options: RunOptions
) async throws {
    try await options.withEmulatedBluetooth { bluez in
        try await options.run(source.peripheral, on: bluez) { session in
            Terminal.print(
                "peripheral: \(source.peripheral.name) is advertising; type the next text, stop with Ctrl-C."
            )
            // The next text arrives when the user has typed it.
            let central = bluez.central(for: source.peripheral, patience: .seconds(86_400))
            defer { central.disconnect() }
            let bars = ProgressBars()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await source.offer(texts, over: session) { bars.show($0) }
                }
                group.addTask {
                    try await central.connect()
                    for try await text in try await source.texts(receivedBy: central) {
                        Terminal.print("phone:      \(text)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }
    Terminal.print("peripheral: the advertisement and the service are withdrawn.")
}

extension TextPeripheral {
    /// Subscribes a connected central and assembles the chunks, like the central of the sample.
    func texts(receivedBy central: some TestCentral) async throws -> AsyncThrowingStream<String, any Error> {
        try await central.subscribe(to: text)
        return AsyncThrowingStream { texts in
            let receiving = Task {
                var received: [UInt8] = []
                do {
                    for try await chunk in central.updates(of: text) {
                        guard chunk == Array("EOM".utf8) else {
                            received += chunk
                            continue
                        }
                        texts.yield(String(decoding: received, as: UTF8.self))
                        received = []
                    }
                    texts.finish()
                } catch {
                    texts.finish(throwing: error)
                }
            }
            texts.onTermination = { _ in receiving.cancel() }
        }
    }
}
