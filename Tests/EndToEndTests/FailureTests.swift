import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// If a peripheral cannot be published, the error names the problem and the remedy.
@Suite(.timeLimit(.minutes(1)))
struct FailureTests {
    private func failure(
        on backend: BlueZBackend,
        _ peripheral: Peripheral = .battery
    ) async throws -> PeripheralError {
        try await #require(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, logger: .silent) { _ in
                Issue.record("the body must not begin")
            }
        }
    }

    @Test func noBus() async throws {
        let backend = BlueZBackend(recovery: .never, bus: .address("unix:path=/nonexistent/bus"))
        let error = try await failure(on: backend)
        #expect(error.code == .stackUnavailable)
        #expect(error.message.hasPrefix("The system bus cannot be reached at unix:path=/nonexistent/bus"))
        #expect(error.message.hasSuffix("Start D-Bus."))
    }

    /// Without D-Bus, the run does not restore the hardware first, and does not complain about the store.
    @Test(arguments: [Recovery.never, .afterPublication])
    func noBusIsReportedBeforeTheStore(recovery: Recovery) async throws {
        let level = Characteristic<UInt8>(0x2A19, .read) { PersistentValue(initially: 0) }
        let store = InMemoryRestorationStore()
        let restored = Mutex(0)
        let peripheral = Peripheral("Switch", restorationIdentifier: "com.example.switch") {
            GATTService(.battery) { level }
        } onRestore: { _ in
            restored.withLock { $0 += 1 }
        }
        for _ in 1...2 {
            try await peripheral.run(on: InMemoryBackend(), restoringFrom: store, logger: .silent) { _ in }
        }
        #expect(restored.withLock(\.self) == 1)
        let backend = BlueZBackend(recovery: recovery, bus: .address("unix:path=/nonexistent/bus"))
        store.loadError = RestorationError(code: .unreadable, message: "The directory is missing.")
        let log = LogRecorder()
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, restoringFrom: store, logger: log.logger) { _ in
                Issue.record("the body must not begin")
            }
        }
        #expect(error?.code == .stackUnavailable)
        #expect(error?.message.hasSuffix("Start D-Bus.") == true)
        #expect(restored.withLock(\.self) == 1)
        #expect(log.lines == [])
    }

    @Test func noDaemon() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.stopDaemon()
            let error = try await failure(on: bluez.backend(recovery: .never))
            #expect(error.code == .stackUnavailable)
            #expect(error.message == "bluetoothd is not running. Run 'systemctl start bluetooth'.")
        }
    }

    @Test func aVersionThatCannotServeTheDeclaration() async throws {
        try await withEmulatedBlueZ { bluez in
            let backend = BlueZBackend(version: "5.50", bus: .address(bluez.busAddress))
            let error = await #expect(throws: DeclarationError.self) {
                try await Peripheral.battery.run(on: backend, logger: .silent) { _ in
                    Issue.record("the body must not begin")
                }
            }
            #expect(
                error?.description
                    == "error: peripheral: BlueZ 5.50 is not supported; use BlueZ 5.66 or later"
            )
        }
    }

    struct Adapters: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var adapters: [EmulatedAdapter]
        var selection: AdapterSelection = .firstPowered
        var message: String
    }

    @Test(arguments: [
        Adapters(
            testDescription: "none",
            adapters: [],
            message:
                "bluetoothd has no Bluetooth adapter. Plug one in, or run 'bluetoothctl list' and 'rfkill'."
        ),
        Adapters(
            testDescription: "off",
            adapters: [EmulatedAdapter(isPowered: false)],
            message:
                "No Bluetooth adapter is powered on; use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked."
        ),
        Adapters(
            testDescription: "the named one is missing",
            adapters: ["hci0", "hci1"],
            selection: "hci7",
            message: "There is no Bluetooth adapter hci7. The available adapters are: hci0, hci1."
        ),
        Adapters(
            testDescription: "the named one is off",
            adapters: ["hci0", EmulatedAdapter("hci1", isPowered: false)],
            selection: "hci1",
            message:
                "The Bluetooth adapter hci1 is powered off; use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked."
        ),
    ])
    func noAdapter(adapters: Adapters) async throws {
        try await withEmulatedBlueZ(.init(adapters: adapters.adapters)) { bluez in
            let error = try await failure(on: bluez.backend(adapter: adapters.selection, recovery: .never))
            #expect(error.code == .adapterUnavailable)
            #expect(error.message == adapters.message)
        }
    }

    @Test func secondAdapterServesWhenTheFirstIsOff() async throws {
        let adapters = [EmulatedAdapter("hci0", isPowered: false), "hci1"]
        try await withEmulatedBlueZ(.init(adapters: adapters)) { bluez in
            try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                let central = bluez.central(for: .battery, near: "hci1")
                try await central.connect()
                #expect(try await central.read(.batteryLevel) == 99)
                #expect(bluez.central(for: .battery, near: "hci0").scan().isEmpty)
            }
        }
    }

    @Test func noRoomForAnotherAdvertisement() async throws {
        try await withEmulatedBlueZ { bluez in
            try await withThrowingTaskGroup { group in
                let published = Signal<Void>()
                for _ in 0..<5 {
                    group.addTask {
                        try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                            published.send()
                            try await untilCancelled()
                        }
                    }
                }
                for _ in 0..<5 { try await published.next() }
                let error = try await failure(on: bluez.backend(recovery: .never))
                #expect(error.code == .rejected)
                #expect(
                    error.message
                        == "The adapter has no room for another advertisement (org.bluez.Error.NotPermitted: "
                        + "Maximum advertisements reached); stop another program that advertises."
                )
                group.cancelAll()
                while let result = await group.nextResult() {
                    #expect(throws: CancellationError.self) { try result.get() }
                }
            }
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var name: ErrorName
        var message: String
        var code: PeripheralError.Code
        var sentence: String
        var testDescription: String { name.text }
    }

    @Test(arguments: [
        Refusal(
            name: "org.bluez.Error.Failed",
            message: "No valid service object found",
            code: .rejected,
            sentence:
                "bluetoothd refused the services (org.bluez.Error.Failed: No valid service object found)"
        ),
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied",
            message: "Rejected send message",
            code: .permissionDenied,
            sentence: "This user may not use bluetoothd; run as root"
        ),
        Refusal(
            name: "org.freedesktop.DBus.Error.UnknownObject",
            message: "gone",
            code: .adapterUnavailable,
            sentence: "The Bluetooth adapter is gone"
        ),
    ])
    func refusedByTheDaemon(refusal: Refusal) async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.stopDaemon()
            try await BusObserver.run(on: bluez) { impostor in
                let refuse: ExportedMethod.Handler = { _, reply in
                    reply.fail(MethodError(refusal.name, refusal.message))
                }
                try await impostor.connection.exportObjectManager(at: "/")
                try await impostor.connection.export(
                    ExportedObject(
                        "/org/bluez/hci0",
                        [
                            ExportedInterface(
                                "org.bluez.Adapter1",
                                properties: [ExportedProperty("Powered", .bool(true))]
                            ),
                            ExportedInterface(
                                "org.bluez.GattManager1",
                                methods: [
                                    ExportedMethod("RegisterApplication", "oa{sv}", "", handler: refuse)
                                ]
                            ),
                            ExportedInterface("org.bluez.LEAdvertisingManager1"),
                        ]
                    )
                )
                try await impostor.connection.requestName("org.bluez")
                let error = try await failure(on: bluez.backend(recovery: .never))
                #expect(error.code == refusal.code)
                #expect(error.message.hasPrefix(refusal.sentence))
            }
        }
    }
}
