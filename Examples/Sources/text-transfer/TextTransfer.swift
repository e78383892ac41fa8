import ArgumentParser
import ExampleSupport
import PeripheralKit

/// The command line of a program that sends a text in chunks to each subscriber.
@main
struct TextTransfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text-transfer",
        abstract: "Send a text to each subscriber, in chunks of 20 bytes.",
        discussion: """
            The central of CoreBluetooth's transfer sample shows the text. Each line that you type is the next text, \
            and goes to all subscribers. With --emulated, no Bluetooth is needed: a virtual phone shows what it \
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
        let texts = typedLines(after: text)
        if options.emulated != nil {
            try await runEmulated(source, texts, options)
        } else {
            try await runOnBlueZ(source, texts, options)
        }
    }
}

/// Serves the texts to real centrals.
private func runOnBlueZ(
    _ source: TextPeripheral,
    _ texts: AsyncStream<String>,
    _ options: RunOptions
) async throws {
    let place = options.adapter.map { " on \($0)" } ?? ""
    try await options.run(source.peripheral) { session in
        Terminal.print(
            "\(source.peripheral.name) is advertising\(place); type the next text, stop with Ctrl-C."
        )
        let bars = ProgressBars()
        try await source.offer(texts, over: session) { bars.show($0) }
    }
}
