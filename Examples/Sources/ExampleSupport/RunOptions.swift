package import ArgumentParser

/// The options of all examples: where and for how long they run.
package struct RunOptions: ParsableArguments {
    @Option(help: "The Bluetooth adapter to use, such as hci0. (default: the first that is powered on)")
    package var adapter: String?

    @Option(help: "How long to run, such as 20s, 5m or 1h. (default: until Ctrl-C)")
    package var duration: TimeLimit?

    @Flag(help: "Run on emulated Bluetooth, with a virtual phone. No adapter is needed.")
    package var emulated = false

    package init() {}

    package func validate() throws {
        if emulated, adapter != nil {
            throw ValidationError(
                "--emulated uses no Bluetooth adapter. Leave out --adapter."
            )
        }
    }
}
