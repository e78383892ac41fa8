import ArgumentParser
import ExampleSupport
import PeripheralKit

/// The command line of a peripheral that receives files.
@main
struct FileDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file-drop",
        abstract: "Receive files over L2CAP channels, and resume them after a disconnection.",
        discussion: """
            A central that has paired uploads files into a directory. An upload continues where it was after a \
            disconnection, a crash or a restart. With --emulated, no Bluetooth is needed: a virtual phone uploads a \
            file in two parts.
            """
    )

    @Option(help: "The name under which centrals find the peripheral.")
    var name = "File drop"

    @Option(
        help: """
            The directory of the files, which is created if it is missing. (default: received-files, or a temporary \
            directory with --emulated)
            """
    )
    var directory: String?

    @Option(help: "The size of the largest file that is accepted, in megabytes.")
    var maxSize: UInt32 = 100

    @Flag(help: "Let every central in range upload without pairing, for a demonstration.")
    var open = false

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        guard options.emulated != nil, directory == nil else {
            return try await run(in: DropFolder(directory ?? "received-files"))
        }
        let temporary = try TemporaryDirectory(prefix: "file-drop")
        defer { temporary.remove() }
        try await run(in: DropFolder(temporary.path))
    }

    private func run(in folder: DropFolder) async throws {
        let bars = ProgressBars()
        let drop = FileDropPeripheral(
            name: name,
            folder: folder,
            maximumLength: UInt64(maxSize) * 1_000_000,
            isOpen: open
        ) { bars.show($0) }
        let phone = EmulatedPhone(drop: drop, folder: folder, isOpen: open, bars: bars)
        try await options.run(drop.peripheral) { _ in
            try folder.create()
            bars.print("drop:  \(folder.completeFiles) files are in \(folder.path)")
            try await Task.sleep(for: .seconds(Int64.max / 2))
        } emulated: { central in
            try await phone.useFileDrop(central)
        }
        if options.emulated != nil { try phone.checkHasUploaded() }
    }
}
