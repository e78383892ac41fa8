package import ArgumentParser
internal import PeripheralBlueZ

/// The options of all examples: where and for how long they run.
package struct RunOptions: ParsableArguments {
    @Option(help: "The Bluetooth adapter to use, such as hci0. (default: the first that is powered on)")
    package var adapter: String?

    @Option(help: "How long to run, such as 20s, 5m or 1h. (default: until Ctrl-C)")
    package var duration: TimeLimit?

    @Option(
        defaultAsFlag: "\(BlueZVersion.v5_66)",
        help: ArgumentHelp(
            "Run on emulated Bluetooth, with a virtual phone, and imitate this version of BlueZ. No adapter is needed.",
            valueName: "version"
        )
    )
    package var emulated: String?

    package init() {}

    package func validate() throws {
        if let emulated {
            do {
                _ = try BlueZVersion(imitated: emulated)
            } catch {
                throw ValidationError("\(error)")
            }
        }
        if emulated != nil, adapter != nil {
            throw ValidationError(
                "--emulated uses no Bluetooth adapter. Leave out --adapter."
            )
        }
    }
}
