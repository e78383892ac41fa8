import MyDevicePeripheral

#if os(Linux)
    @preconcurrency import Glibc
    import PeripheralBlueZ
    import PeripheralEmulator

    @main
    enum Main {
        static func main() async {
            // Each line appears at once, in a journal too.
            setlinebuf(stdout)
            do {
                try await run(Array(CommandLine.arguments.dropFirst()))
            } catch let error as PeripheralError where isAboutThisMachine(error) {
                fail(
                    """
                    \(error)
                    Add --emulated to run without Bluetooth. 'make doctor' examines this machine.
                    """
                )
            } catch let error as BlueZVersionError {
                fail("\(error)\n\(usage)", status: 2)
            } catch {
                fail("\(error)")
            }
        }

        private static let usage = """
            usage: my-device [--emulated [VERSION] | --help]
              --emulated  use an emulated bluetoothd and a virtual central; no Bluetooth is needed
                          VERSION is the version of BlueZ to imitate, such as 5.82 (default: the oldest, 5.66)
              --help      print this text
            Without an option, the program uses the Bluetooth adapter of this machine.
            The environment variable ADAPTER selects another adapter than the first one, such as hci1.
            Exit status: 0 after a stop, 1 if the program ends with an error, 2 if the command line is invalid.
            """

        private static func run(_ arguments: [String]) async throws {
            switch arguments {
            case []: try await runOnBlueZ(Program())
            case ["--emulated"]: try await runEmulated(Program(), .v5_66)
            case _ where arguments.count == 2 && arguments[0] == "--emulated":
                try await runEmulated(Program(), BlueZVersion(imitated: arguments[1]))
            case ["--help"], ["-h"]: print(usage)
            default: fail("unknown arguments: \(arguments.joined(separator: " "))\n\(usage)", status: 2)
            }
        }

        /// Runs the program on the Bluetooth adapter of this machine.
        private static func runOnBlueZ(_ program: Program) async throws {
            let adapter = getenv("ADAPTER").map { String(cString: $0) } ?? ""
            // systemd starts the program on a device. There, the program waits until Bluetooth is available.
            // In a terminal, it ends with an error instead.
            let serviceManager = SystemdNotifier.fromEnvironment
            let backend = BlueZBackend(
                adapter: adapter.isEmpty ? .firstPowered : .named(adapter),
                settings: AdapterSettings(powersOn: true),
                recovery: serviceManager == nil ? .afterPublication : .always,
                serviceManager: serviceManager
            )
            let peripheral = program.peripheral
            try await peripheral.run(on: backend, stoppingOn: [SIGTERM, SIGINT]) { session in
                print("\(peripheral.name) is advertising; stop with Ctrl-C.")
                for await _ in session.events {}
            }
        }

        /// Runs the program on an emulated bluetoothd, with a virtual central.
        private static func runEmulated(_ program: Program, _ version: BlueZVersion) async throws {
            let peripheral = program.peripheral
            try await withEmulatedBlueZ(.init(version: version)) { bluez in
                try await peripheral.run(on: bluez.backend) { _ in
                    print("\(peripheral.name) is advertising to a virtual central. No radio is used.")
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    try await program.demonstrate(central)
                    central.disconnect()
                }
            }
        }

        private static func isAboutThisMachine(_ error: PeripheralError) -> Bool {
            [.stackUnavailable, .adapterUnavailable, .permissionDenied].contains(error.code)
        }

        /// Prints an error and ends the program.
        ///
        /// An error thrown from `main` would print a crash report.
        private static func fail(_ message: String, status: CInt = 1) -> Never {
            let text = "my-device: \(message)\n"
            write(STDERR_FILENO, text, text.utf8.count)
            exit(status)
        }
    }
#else
    @main
    enum Main {
        static func main() {
            print("my-device runs on Linux with BlueZ. On this platform, test the peripheral: swift test")
        }
    }
#endif
