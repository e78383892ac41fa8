internal import PeripheralDBus

/// The command line of `peripheral-doctor`.
package struct DoctorCommand: Hashable, Sendable {
    /// What is printed, and the exit status.
    package struct Outcome: Hashable, Sendable {
        package var output = ""
        package var complaint = ""
        package var status: Int32
    }

    /// Why a command line is not understood.
    package struct UsageError: Error, Hashable {
        package var message: String
    }

    package var printsJSON = false
    package var printsHelp = false
    /// The address of the bus, in D-Bus notation; `nil` for the system's.
    package var bus: String?

    package static let help = """
        Examines this machine for what a Bluetooth LE peripheral needs, and says what to do about what is missing.
        Nothing is changed.

        Usage: peripheral-doctor [--json] [--bus ADDRESS]

          --json         Print the findings as JSON.
          --bus ADDRESS  Look for bluetoothd on this bus, such as unix:path=/run/dbus/system_bus_socket.
          -h, --help     Print this.

        Exit status: 0 without errors among the findings, 1 with errors, 2 when the command line is not understood.
        """

    /// Reads the arguments behind the program's name.
    package init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": printsJSON = true
            case "-h", "--help": printsHelp = true
            case "--bus":
                guard let address = rest.popFirst(), !address.isEmpty else {
                    throw UsageError(message: "--bus needs an address.")
                }
                bus = address
            case _ where argument.hasPrefix("--bus=") && argument.count > 6:
                bus = String(argument.dropFirst(6))
            default:
                throw UsageError(message: "'\(argument)' is not understood.")
            }
        }
    }

    /// Examines the machine as the arguments say.
    ///
    /// - Parameters:
    ///   - arguments: Those behind the program's name.
    ///   - files: The files of the machine.
    /// - Returns: What to print and the exit status.
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
        let report = Report(Examination(of: machine).findings)
        return Outcome(
            output: printsJSON ? report.json : report.text,
            status: report.hasErrors ? 1 : 0
        )
    }
}
