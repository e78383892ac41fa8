import ArgumentParser
import ExampleSupport
import Logging
import PeripheralBlueZ

/// A text that is sent in chunks to whoever subscribes: the command line.
@main
struct TextTransfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text-transfer",
        abstract: "Send a text to whoever subscribes, in chunks of 20 bytes.",
        discussion: """
            The central of CoreBluetooth's transfer sample shows the text. Each line that is typed is the next text, \
            which all who are subscribed get. With --emulated, no Bluetooth is needed: a virtual central shows what it \
            receives.
            """
    )

    @Argument(help: "The text to begin with.")
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
    // The terminal belongs to the progress; what ends the run is told as its error.
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
