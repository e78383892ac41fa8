import ArgumentParser
import ExampleSupport
import PeripheralKit
import PeripheralNordicUART
import PeripheralTesting

/// The command line and the run of a console for apps that support Nordic's UART service.
@main
struct UARTConsole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uart-console",
        abstract: "Act as a console for apps that support Nordic's UART service.",
        discussion: """
            The console carries out the commands of phones. "help" lists them. Lines that you type here go to all phones that \
            have subscribed.
            """
    )

    @Option(help: "The name under which centrals find the console.")
    var name = "Console"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let uart = NordicUARTService()
        try await options.run(Peripheral(name) { uart }) { session in
            try await serve(uart.port(in: session), typed: typedLines())
        } emulated: { central in
            try await useConsole(of: uart, by: central)
        }
    }
}

/// Carries out the lines from phones, and sends the lines that are typed here.
///
/// - Parameters:
///   - port: The serial port to the phones.
///   - lines: The lines that are typed here.
///   - carryOut: Carries out a line and sends the answer.
/// - Throws: The errors of `carryOut` and of `UARTPort.write`.
func serve(
    _ port: UARTPort,
    typed lines: AsyncStream<String>,
    carryOut: @escaping @Sendable (UARTLine) async throws -> Void
) async throws {
    try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
            for await line in lines { try await port.write(line + "\n") }
        }
        // Each phone with pending lines has its own task, so none waits for the answer to another.
        let waiting = WaitingLines()
        for await line in port.lines {
            Terminal.print("console: \(line.central.address) says: \(line.text)")
            switch waiting.append(line) {
            case .first:
                group.addTask { while let line = waiting.next(of: line.central) { try await carryOut(line) } }
            case .queued: break
            case .tooMany:
                Terminal.print("console: dropped this line, because too many lines of this phone are waiting")
            }
        }
    }
}

/// Carries out the lines from phones, and sends the lines that are typed here.
func serve(_ port: UARTPort, typed lines: AsyncStream<String>) async throws {
    try await serve(port, typed: lines) { line in
        do {
            try await Console().carryOut(line.text) { try await port.write($0, to: line.central) }
        } catch let error as PeripheralError {
            // The phone has not subscribed, or it has disconnected during the answer.
            Terminal.print("console: \(error)")
        }
    }
}

/// Acts as a person with a terminal app.
private func useConsole(of uart: NordicUARTService, by phone: VirtualCentral) async throws {
    try await phone.connect()
    try await phone.subscribe(to: uart.tx)
    for command in ["help", "echo Hello from a phone", "uptime", "count 5000"] {
        Terminal.print("phone:   \(command)")
        try await phone.write(uart.rx, Array("\(command)\n".utf8))
        var answer: [UInt8] = []
        while !answer.ends(with: Array("> ".utf8)) { answer += try await phone.nextUpdate(of: uart.tx) }
        let lines = String(decoding: answer, as: UTF8.self).split(separator: "\n").dropLast()
        for line in lines.prefix(5) { Terminal.print("phone:   | \(line)") }
        if let last = lines.dropFirst(5).last { Terminal.print("phone:   | … \(last)") }
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count) == end[...] }
}
