import ExampleSupport
import PeripheralKit
import PeripheralTesting
import UnixSignals

/// Plays the scene to its end, or until `SIGINT`, `SIGTERM` or the end of a time limit.
///
/// The library handles signals for a peripheral. Here, the peripheral runs in another process, which must not
/// be left when a signal ends this one.
func playScene(name: String, _ options: RunOptions) async throws {
    try await withThrowingTaskGroup { group in
        group.addTask { try await playWholeScene(name: name, options) }
        group.addTask {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
        }
        if let limit = options.duration {
            group.addTask { try await Task.sleep(for: limit.duration) }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

/// Runs the door lock on an emulated Bluetooth stack, kills it, and runs it again.
///
/// The lock runs in its own process. Nothing is left of it when the scene ends or is cancelled.
private func playWholeScene(name: String, _ options: RunOptions) async throws {
    let directory = try TemporaryDirectory(prefix: "door-lock")
    defer { directory.remove() }
    try await options.withEmulatedBluetooth { bluez in
        // Describes the door to the phones. The door that they use is in the other process.
        let door = Door(name: name) { _ in
        } onRestore: { _ in
        }
        let phone = bluez.central(for: door.peripheral)
        let other = bluez.central(for: door.peripheral)

        func start() throws -> ChildProcess {
            try ChildProcess.doorLock(
                name: name,
                busAddress: bluez.busAddress,
                stateDirectory: directory.path
            )
        }
        var program: ChildProcess? = try start()
        defer { program?.kill() }
        try await untilFound(phone)
        try await phone.connect()
        try await untilPaired(phone)
        Terminal.print(
            "phone:  paired, and reads that the door is \(try await phone.read(door.isLocked) ? "locked" : "unlocked")"
        )
        try await phone.subscribe(to: door.audit)
        try await phone.write(door.isLocked, false)
        Terminal.print("phone:  notified: \(try await phone.nextUpdate(of: door.audit))")
        let handle = try await phone.locate(door.isLocked).valueHandle
        try await phone.write(door.admit, 1)
        phone.disconnect()

        Terminal.print(
            "phone:  admits another phone and leaves. That phone locks the door, and then the program is killed."
        )
        try await other.connect()
        try await other.pair(.justWorks)
        try await other.write(door.isLocked, true)
        program?.kill()
        program = nil
        other.disconnect()
        // bluetoothd takes a moment to notice. Until then, phones find services that no program serves.
        while !phone.scan().isEmpty { try await Task.sleep(for: .milliseconds(20)) }

        Terminal.print("door:   killed, like kill -9. The program starts again.")
        program = try start()
        try await untilFound(phone)
        try await phone.connect()
        let value = try await phone.read(handle, offset: 0)
        Terminal.print(
            "phone:  back, and reads at the handle from before that the door is \(value == [1] ? "locked" : "unlocked")"
        )
        try await phone.subscribe(to: door.audit)
        Terminal.print("phone:  notified of the missed entry: \(try await phone.nextUpdate(of: door.audit))")
        phone.disconnect()

        let stranger = bluez.central(for: door.peripheral)
        try await stranger.connect()
        do {
            try await stranger.pair(.justWorks)
        } catch let error as TestCentralError where error.code == .pairingFailed {
            Terminal.print("stranger: cannot pair, because no phone has admitted it")
        }
        stranger.disconnect()
    }
}

/// Pairs the first phone.
///
/// The door opens its pairing window a moment after it is on the air.
private func untilPaired(_ phone: VirtualCentral) async throws {
    while true {
        do {
            return try await phone.pair(.justWorks)
        } catch let error as TestCentralError where error.code == .pairingFailed {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

private func untilFound(_ phone: VirtualCentral) async throws {
    while phone.scan().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
}
