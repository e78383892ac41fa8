import ArgumentParser
import ExampleSupport
import PeripheralKit
import PeripheralNordicUART
import PeripheralTesting

/// A terminal line without a shell, for any app that speaks Nordic's UART service: the command line and the run.
@main
struct UARTConsole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uart-console",
        abstract: "Be a terminal line for apps that speak Nordic's UART service.",
        discussion: """
            A phone's commands are carried out; "help" tells which there are. What is typed here goes to all phones that \
            listen.
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

/// Carries out what phones write, and sends what is typed here.
///
/// - Parameters:
///   - port: The line to the phones.
///   - lines: What is typed here.
///   - carryOut: Carries out a line, and answers it.
/// - Throws: What `carryOut` throws, and as `UARTPort.write` does.
func serve(
    _ port: UARTPort,
    typed lines: AsyncStream<String>,
    carryOut: @escaping @Sendable (UARTLine) async throws -> Void
) async throws {
    try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
            for await line in lines { try await port.write(line + "\n") }
        }
        // One task for each phone that has something to do: none waits for the answer to another.
        let waiting = WaitingLines()
        for await line in port.lines {
            Terminal.print("console: \(line.central.address) says: \(line.text)")
            switch waiting.append(line) {
            case .first:
                group.addTask { while let line = waiting.next(of: line.central) { try await carryOut(line) } }
            case .queued: break
            case .tooMany:
                Terminal.print("console: does not hear that, there is too much to do for this phone")
            }
        }
    }
}

/// Carries out what phones write, and sends what is typed here.
func serve(_ port: UARTPort, typed lines: AsyncStream<String>) async throws {
    try await serve(port, typed: lines) { line in
        do {
            try await Console().carryOut(line.text) { try await port.write($0, to: line.central) }
        } catch let error as PeripheralError {
            // It does not listen, or has left in the middle of the answer.
            Terminal.print("console: \(error)")
        }
    }
}

/// What a person does with a terminal app.
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
