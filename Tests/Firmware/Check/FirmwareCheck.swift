import Glibc
import PeripheralEmulator
import PeripheralHeartRate
import PeripheralKit
import PeripheralTesting

/// Runs the firmware of the heart rate sensor on an emulated bluetoothd, and checks what it uses:
/// `firmware-check [--brief | --hour] PROGRAM`.
///
/// `--brief` is for where figures mean nothing: a central is notified, and that is all. With `--hour`, the
/// hour's notifications take an hour.
@main
struct FirmwareCheck {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        let isBrief = arguments.first == "--brief"
        let takesAnHour = arguments.first == "--hour"
        if isBrief || takesAnHour { arguments.removeFirst() }
        guard let program = arguments.first, arguments.count == 1 else {
            print("firmware-check [--brief | --hour] PROGRAM")
            exit(2)
        }
        var budget = Budget()
        try await withEmulatedBlueZ { bluez in
            let check = FirmwareCheck(program: program, bluez: bluez, interval: takesAnHour ? 100 : 1)
            if isBrief { try await check.notify() } else { try await check.run(&budget) }
        }
        exit(budget.isKept ? 0 : 1)
    }

    let program: String
    let bluez: EmulatedBlueZ
    /// The milliseconds from one of an hour's notifications to the next.
    let interval: Int
    /// What a central knows of the firmware.
    let heartRate = HeartRateService(location: .chest) {}

    private func run(_ budget: inout Budget) async throws {
        try await startAndIdle(&budget)
        try await notifyOnceASecond(&budget)
        try await notifyForAnHour(&budget)
    }

    private func notify() async throws {
        let (process, central) = try start()
        defer { process.end() }
        try await subscribe(central)
        for _ in 0..<3 { _ = try await central.nextUpdate(of: heartRate.measurement) }
        print("ok   a central is notified")
    }

    private func start(interval: Int = 1000) throws -> (FirmwareProcess, VirtualCentral) {
        let process = try FirmwareProcess(
            program,
            environment: [
                "DBUS_SYSTEM_BUS_ADDRESS": bluez.busAddress, "INTERVAL_MILLISECONDS": "\(interval)",
                "CONFIGURATION_FILE": "/dev/null",
            ]
        )
        let peripheral = Peripheral("Pulse") { heartRate }
        return (process, bluez.central(for: peripheral, patience: .seconds(60)))
    }

    private func untilFound(_ central: VirtualCentral) async throws {
        while central.scan().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    }

    private func startAndIdle(_ budget: inout Budget) async throws {
        let (process, central) = try start()
        defer { process.end() }
        try await untilFound(central)
        let used = try process.processorTime / .milliseconds(1)
        budget.check("processor time until it is on the air", used, atMost: 25, "ms")
        // Threads that have nothing to do any more have time to end.
        _ = try await countWakeUps(of: process, seconds: 15)
        let wakeUps = try await countWakeUps(of: process, seconds: 60)
        budget.check("wake-ups in 60 s of advertising", Double(wakeUps), atMost: 0, "")
        try await untilFound(central)
    }

    private func notifyOnceASecond(_ budget: inout Budget) async throws {
        let (process, central) = try start()
        defer { process.end() }
        try await subscribe(central)
        let count = 20
        _ = try await central.nextUpdate(of: heartRate.measurement)
        let before = try process.countWakeUps()
        for _ in 0..<count {
            _ = try await central.nextUpdate(of: heartRate.measurement)
            _ = try process.countWakeUps()
        }
        let wakeUps = Double(try process.countWakeUps() - before) / Double(count)
        budget.check("wake-ups for each notification", wakeUps, atMost: 4, "")
    }

    private func countWakeUps(of process: FirmwareProcess, seconds: Int) async throws -> Int {
        let before = try process.countWakeUps()
        for _ in 0..<seconds {
            try await Task.sleep(for: .seconds(1))
            _ = try process.countWakeUps()
        }
        return try process.countWakeUps() - before
    }

    /// Receives 36,000 notifications, as many as 10 a second make in an hour.
    ///
    /// Without `--hour`, they arrive faster.
    private func notifyForAnHour(_ budget: inout Budget) async throws {
        let (process, central) = try start(interval: interval)
        defer { process.end() }
        try await subscribe(central)
        for count in 1...36_000 {
            _ = try await central.nextUpdate(of: heartRate.measurement)
            if count.isMultiple(of: 50) { try await showWhatHasArrived(central) }
        }
        let memory = try process.memory
        budget.check("memory after 36,000 notifications", Double(memory.resident) / 1024, atMost: 8.75, "MiB")
        budget.check("of it in no file", Double(memory.own) / 1024, atMost: 1.5, "MiB")
    }

    /// Shows the firmware that its values have arrived.
    ///
    /// If nothing reports which values are completed, the firmware sends more than 40 values a second only
    /// after such a sign. The sign is a request that follows the response to an earlier request.
    private func showWhatHasArrived(_ central: VirtualCentral) async throws {
        guard let location = heartRate.bodySensorLocation else { return }
        for _ in 0..<2 { _ = try await central.read(location) }
    }

    private func subscribe(_ central: VirtualCentral) async throws {
        try await untilFound(central)
        try await central.connect()
        try await central.subscribe(to: heartRate.measurement)
    }
}
