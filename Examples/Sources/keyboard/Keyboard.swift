import ArgumentParser
import ExampleSupport
import PeripheralBattery
import PeripheralDeviceInformation
import PeripheralHID
import PeripheralKit
import PeripheralTesting

/// The command line and the run of a keyboard that types a text on the host that it is paired with.
@main
struct Keyboard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyboard",
        abstract: "Act as a keyboard that types a text on the host it is paired with.",
        discussion: """
            The host must use the keyboard layout of the United States. Pair it in its Bluetooth settings. The keyboard types \
            the text once, and then each line that you type here.
            """
    )

    @Argument(help: "The text to type first, in ASCII characters.")
    var text = "Typed by Swift, over Bluetooth."

    @Option(help: "The name under which hosts find the keyboard.")
    var name = "Keyboard"

    @OptionGroup
    var options: RunOptions

    func validate() throws {
        if let character = text.first(where: { KeyStroke(usLayout: $0) == nil }) {
            throw ValidationError("\(UntypableCharacter(character: character))")
        }
    }

    func run() async throws {
        let keyboard = TypingKeyboard(name: name)
        try await options.run(keyboard.peripheral) { [text] session in
            try await keyboard.type(typedLines(after: text), over: session)
        } emulated: { [text] host in
            try await keyboard.show(host, expecting: text)
        }
    }
}
