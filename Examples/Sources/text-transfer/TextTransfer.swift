import ArgumentParser
import ExampleSupport
import Logging
import PeripheralBlueZ

/// The command line of a program that sends a text in chunks to each subscriber.
@main
struct TextTransfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text-transfer",
        abstract: "Send a text to each subscriber, in chunks of 20 bytes.",
        discussion: """
            The central of CoreBluetooth's transfer sample shows the text. Each line that you type is the next text, \
            and goes to all subscribers. With --emulated, no Bluetooth is needed: a virtual central shows what it \
            receives.
            """
    )

    @Argument(help: "The text to send first.")
    var text = "A text in chunks of 20 bytes, each sent when the link has room for it, and not before."

    @Option(help: "The name under which centrals find the peripheral.")
    var name = "Text"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let source = TextPeripheral(name: name)
        try await withStopRequest(after: options.duration?.duration) {
            [text, adapter = options.adapter, emulated = options.emulated] stop in
            let texts = typedLines(after: text)
            if emulated {
                try await runEmulated(source, texts, until: stop)
            } else {
                try await runOnBlueZ(source, texts, adapter: adapter, until: stop)
            }
        }
    }
}

/// Serves the texts to real centrals.
private func runOnBlueZ(
    _ source: TextPeripheral,
    _ texts: AsyncStream<String>,
    adapter: String?,
    until stop: StopRequest
) async throws {
    // Only the progress goes to the terminal. An error that ends the run is printed at the end.
    var logger = Logger(label: "text-transfer")
    logger.logLevel = .error
    let backend = BlueZBackend(
        adapter: adapter.map { .named($0) } ?? .firstPowered,
        recovery: .afterPublication,
        logger: logger
    )
    try await source.peripheral.run(on: backend, logger: logger) { session in
        let place = adapter.map { " on \($0)" } ?? ""
        Terminal.print("\(source.peripheral.name) is advertising\(place); type a text, stop with Ctrl-C.")
        let bars = ProgressBars()
        try await stop.ends {
            try await source.offer(texts, over: session) { bars.show($0) }
        }
    }
}
