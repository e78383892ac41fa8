import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// How a run ends: as asked, or because what it needs is gone.
@Suite(.timeLimit(.minutes(1)))
struct LifecycleTests {
    private static let beginning = ["services", "services", "advertisements: 1", "advertisements: 0"]
    // bluetoothd announces after it has answered, so the program may be gone before that is heard. Were it
    // dropped instead, its end would come first of all.
    private static let end = ["no services", "no services", "somebody leaves"]

    @Test func advertisementIsWithdrawnBeforeTheServices() async throws {
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { observer in
                try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in }
                let events = try await observer.next(7)
                #expect(Array(events.prefix(4)) == Self.beginning)
                #expect(events.suffix(3).sorted() == Self.end)
            }
        }
    }

    @Test func sameIsDoneWhenTheBodyThrows() async throws {
        struct Failure: Error {}
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { observer in
                await #expect(throws: Failure.self) {
                    try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                        throw Failure()
                    }
                }
                let events = try await observer.next(7)
                #expect(Array(events.prefix(4)) == Self.beginning)
                #expect(events.suffix(3).sorted() == Self.end)
            }
        }
    }

    @Test func sameIsDoneWhenTheTaskIsCancelled() async throws {
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { observer in
                let published = Signal<Void>()
                let run = Task {
                    try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                        published.send()
                        try await untilCancelled()
                    }
                }
                try await published.next()
                run.cancel()
                await #expect(throws: CancellationError.self) { try await run.value }
                let events = try await observer.next(7)
                #expect(Array(events.prefix(4)) == Self.beginning)
                #expect(events.suffix(3).sorted() == Self.end)
            }
        }
    }

    @Test func cancelledBeforeItBeginsNothingIsRegistered() async throws {
        try await withEmulatedBlueZ { bluez in
            let gate = Signal<Void>()
            let run = Task {
                try? await gate.next()
                try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in }
            }
            run.cancel()
            gate.send()
            await #expect(throws: (any Error).self) { try await run.value }
            #expect(bluez.central(for: .battery).scan().isEmpty)
        }
    }

    struct Loss: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: PeripheralError.Code
        var message: String
        var happen: @Sendable (EmulatedBlueZ) async throws -> Void
    }

    private static let daemonLost =
        "bluetoothd has ended. Run 'systemctl start bluetooth'."

    @Test(arguments: [
        Loss(testDescription: "bluetoothd is killed", code: .connectionLost, message: daemonLost) {
            await $0.killDaemon()
        },
        Loss(
            testDescription: "the bus is killed",
            code: .connectionLost,
            message: "The connection to the system bus was lost. If D-Bus is not running, start it."
        ) { await $0.killBus() },
        Loss(
            testDescription: "the adapter is unplugged",
            code: .adapterUnavailable,
            message: "The Bluetooth adapter /org/bluez/hci0 is missing. Plug in the adapter."
        ) { await $0.removeAdapter("hci0") },
    ])
    func whatIsNeededIsLostForGood(loss: Loss) async throws {
        try await withEmulatedBlueZ { bluez in
            let isBodyCancelled = Signal<Bool>()
            let error = await #expect(throws: PeripheralError.self) {
                try await Peripheral.battery.run(on: bluez.backend(recovery: .never), logger: .silent) { _ in
                    try await loss.happen(bluez)
                    do {
                        try await untilCancelled()
                    } catch {
                        isBodyCancelled.send(Task.isCancelled)
                        throw error
                    }
                }
            }
            let isCancelled = try await isBodyCancelled.next()
            #expect(isCancelled)
            #expect(error?.code == loss.code)
            #expect(error?.message == loss.message)
        }
    }

    @Test func stoppedDaemonLosesTheAdapterFirst() async throws {
        try await withEmulatedBlueZ { bluez in
            let error = await #expect(throws: PeripheralError.self) {
                try await Peripheral.battery.run(on: bluez.backend(recovery: .never), logger: .silent) { _ in
                    await bluez.stopDaemon()
                    try await untilCancelled()
                }
            }
            #expect([.adapterUnavailable, .connectionLost].contains(error?.code))
        }
    }

    @Test func runsAgainAfterTheDaemonCameBack() async throws {
        try await withEmulatedBlueZ { bluez in
            for _ in 0..<3 {
                try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                    let central = bluez.central(for: .battery)
                    try await central.connect()
                    #expect(try await central.read(.batteryLevel) == 99)
                }
                try await bluez.restartDaemon()
            }
        }
    }

    @Test func severalProgramsShareAnAdapter() async throws {
        let other = Characteristic<UInt8>(0x2A38, value: 1)
        let second = Peripheral("Second") { GATTService(.heartRate) { other } }
        try await withEmulatedBlueZ { bluez in
            try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                try await second.run(on: bluez.backend, logger: .silent) { _ in
                    let central = bluez.central(for: second)
                    #expect(Set(central.scan().map(\.payload.localName)) == ["Battery", "Second"])
                    try await central.connect()
                    #expect(try await central.read(other) == 1)
                    let database = try await central.discover()
                    #expect(database.applicationServices.map(\.uuid) == [.battery, .heartRate])
                }
            }
        }
    }
}
