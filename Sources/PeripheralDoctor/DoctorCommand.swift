package import PeripheralBlueZ
internal import PeripheralDBus

/// The command line of `peripheral-doctor`.
package struct DoctorCommand: Hashable, Sendable {
    /// The output and the exit status.
    package struct Outcome: Hashable, Sendable {
        package var output = ""
        package var complaint = ""
        package var status: Int32
    }

    /// The reason why the command line is invalid.
    package struct UsageError: Error, Hashable {
        package var message: String
    }

    package var printsJSON = false
    package var printsBugReport = false
    package var printsHelp = false
    /// The address of the bus in D-Bus notation, or `nil` for the system bus.
    package var bus: String?

    package static let help = """
        Checks whether a Bluetooth LE peripheral can run on this machine, and reports how to fix problems.
        It changes nothing.

        Usage: peripheral-doctor [--json | --report] [--bus ADDRESS]

          --json         Print the findings as JSON.
          --report       Print what a bug report needs, such as the versions and the controller.
          --bus ADDRESS  Look for bluetoothd on this bus, such as unix:path=/run/dbus/system_bus_socket.
          -h, --help     Print this help.

        Exit status: 0 if no finding is an error, 1 if there are errors, 2 if the command line is invalid.
        """

    /// Parses the arguments after the program's name.
    package init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": printsJSON = true
            case "--report": printsBugReport = true
            case "-h", "--help": printsHelp = true
            case "--bus":
                guard let address = rest.popFirst(), !address.isEmpty else {
                    throw UsageError(message: "--bus requires an address.")
                }
                bus = address
            case _ where argument.hasPrefix("--bus=") && argument.count > 6:
                bus = String(argument.dropFirst(6))
            default:
                throw UsageError(message: "'\(argument)' is not a valid option.")
            }
        }
        guard !printsJSON || !printsBugReport else {
            throw UsageError(message: "--report prints text. Leave out --json, or --report.")
        }
    }

    /// Examines the machine with the given arguments.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - files: The files of the machine.
    /// - Returns: The output and the exit status.
    /// - Throws: `CancellationError`.
    package static func run(
        _ arguments: [String],
        files: MachineFiles = MachineFiles()
    ) async throws -> Outcome {
        let command: DoctorCommand
        do throws(UsageError) {
            command = try DoctorCommand(arguments)
        } catch {
            return Outcome(complaint: "\(error.message)\n\n\(help)", status: 2)
        }
        return command.printsHelp ? Outcome(output: help, status: 0) : try await command.examine(files)
    }

    private func examine(_ files: MachineFiles) async throws -> Outcome {
        let machine = try await Machine(bus: bus.map { .address($0) } ?? .system, files: files)
        let examination = Examination(of: machine)
        let report = Report(examination.findings, configuration: examination.proposedConfiguration)
        let output =
            switch (printsBugReport, printsJSON) {
            case (true, _): BugReport(of: machine).text
            case (_, true): report.json
            default: report.text
            }
        return Outcome(output: output, status: report.hasErrors ? 1 : 0)
    }
}
