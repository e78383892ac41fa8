import Logging
import PeripheralBlueZ
import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Services that come and go on BlueZ, whatever happens to BlueZ meanwhile.
@Suite(.timeLimit(.minutes(2)))
struct ChangingServicesTests {
    private static let daemons = [BlueZVersion.v5_66, .v5_82, .v5_87].map {
        EmulatedBlueZ.Configuration(version: $0)
    }

    /// A service with one value, like those of other sensors.
    fileprivate struct Sensor: GATTServiceDeclaration {
        let uuid: BluetoothUUID
        let value: Characteristic<UInt8>

        init(
            _ number: UInt8,
            uuid: BluetoothUUID? = nil,
            _ properties: CharacteristicProperties = [.read, .notify]
        ) {
            self.uuid = uuid ?? BluetoothUUID(0xC200 + UInt16(number))
            value = Characteristic<UInt8>(0x2A6E, properties) { Read { number } }
        }

        var service: GATTService { GATTService(uuid) { value } }
    }

    /// A gateway that is on the air.
    fileprivate struct Running: Sendable {
        let bluez: EmulatedBlueZ
        let gateway: Peripheral
        let session: PeripheralSession

        /// A new central that is connected.
        func central() async throws -> VirtualCentral {
            let central = bluez.central(for: gateway)
            try await central.connect()
            return central
        }

        /// The types of the services that a new central finds.
        func found() async throws -> Set<BluetoothUUID> {
            Set(try await central().discover().applicationServices.map(\.uuid))
        }

        /// Adds a sensor, and sends an indication that its central does not confirm.
        func addUnconfirmed(_ sensor: Sensor) async throws -> (VirtualCentral, Task<Void, any Error>) {
            try await session.add { sensor }
            let central = try await central()
            central.setConfirmsIndications(false)
            try await central.subscribe(to: sensor.value)
            _ = try await session.waitForSubscriber(of: sensor.value)
            let indication = Task { _ = try await session.indicate(sensor.value, 5) }
            _ = try await central.nextUpdate(of: sensor.value)
            return (central, indication)
        }
    }

    private static func gateway(_ name: String = "Gateway", reservedHandles: Int = 0) -> Peripheral {
        Peripheral(name, reservedHandles: reservedHandles) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
    }

    /// Runs a gateway on an emulated BlueZ.
    private static func run(
        _ gateway: Peripheral = gateway(),
        on daemon: EmulatedBlueZ.Configuration = .init(),
        logger: Logger = .silent,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable (Running) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(daemon) { bluez in
            let backend = bluez.backend(clock: clock)
            try await gateway.run(on: backend, logger: logger) { session in
                try await body(Running(bluez: bluez, gateway: gateway, session: session))
            }
        }
    }

    @Test(arguments: Fault.all) func theCurrentSetComesBack(fault: Fault) async throws {
        let sensors = (0..<4).map { Sensor(UInt8($0)) }
        try await Self.run { running in
            let session = running.session
            var states = running.gateway.states.makeAsyncIterator()
            for sensor in sensors.prefix(3) { try await session.add { sensor } }
            let handles = try sensors.prefix(3).map { try session.handle(of: $0.value) }
            try await fault.happen(running.bluez)
            while try await states.next()?.isOnTheAir == true {}
            // Off the air, changes are recorded.
            try await session.remove(sensors[0])
            try await session.add { sensors[3] }
            try await fault.mend(running.bluez)
            while try await states.next()?.isOnTheAir == false {}
            #expect(try await running.found() == [.battery, 0xC201, 0xC202, 0xC203])
            let central = try await running.central()
            for sensor in sensors.dropFirst() {
                _ = try await central.read(sensor.value)
            }
            #expect(try session.handle(of: sensors[1].value) == handles[1])
            #expect(try session.handle(of: sensors[2].value) == handles[2])
            // On the air again, the services change as before.
            try await session.remove(sensors[3])
            try await session.add { sensors[0] }
            #expect(try await central.read(sensors[0].value) == 0)
        }
    }

    /// Something goes wrong while a removal waits for a central that does not confirm.
    @Test(arguments: Fault.all) func aPendingRemovalIsRecorded(fault: Fault) async throws {
        let sensors = [Sensor(0), Sensor(1, [.read, .indicate]), Sensor(2)]
        try await Self.run { running in
            let session = running.session
            var states = running.gateway.states.makeAsyncIterator()
            try await session.add { sensors[0] }
            let (_, indication) = try await running.addUnconfirmed(sensors[1])
            try await session.add { sensors[2] }
            let handles = try sensors.map { try session.handle(of: $0.value) }
            let removal = Task { try await session.remove(sensors[1]) }
            try await fault.happen(running.bluez)
            await #expect(throws: PeripheralError.self) { try await indication.value }
            try await removal.value
            while try await states.next()?.isOnTheAir == true {}
            try await fault.mend(running.bluez)
            while try await states.next()?.isOnTheAir == false {}
            #expect(try await running.found() == [.battery, 0xC200, 0xC202])
            // The removed service can be added again, and all have their handles.
            try await session.add { sensors[1] }
            let central = try await running.central()
            for (sensor, handle) in zip(sensors, handles) {
                #expect(try session.handle(of: sensor.value) == handle)
                _ = try await central.read(sensor.value)
            }
        }
    }

    /// bluetoothd still has services whose removal it has refused, until the connection of the program ends.
    @Test func aRefusedRemovalFollowsWithTheNextPublication() async throws {
        let sensors = [Sensor(0), Sensor(1), Sensor(2)]
        try await Self.run { running in
            let session = running.session
            var states = running.gateway.states.makeAsyncIterator()
            for sensor in sensors { try await session.add { sensor } }
            try await running.bluez.setPermitted(false)
            try await session.remove(sensors[0], sensors[1])
            try await running.bluez.setPermitted(true)
            while try await states.next()?.isOnTheAir == true {}
            while try await states.next()?.isOnTheAir == false {}
            #expect(try await running.found() == [.battery, 0xC202])
            #expect(session.services.map(\.uuid) == [.battery, 0xC202])
        }
    }

    /// A replacement that this version cannot serve is refused before the earlier service goes.
    @Test func aRefusedReplacementChangesNothing() async throws {
        let sensor = Sensor(0)
        try await Self.run { running in
            let session = running.session
            try await session.add { sensor }
            let central = try await running.central()
            try await central.subscribe(to: sensor.value)
            _ = try await session.waitForSubscriber(of: sensor.value)
            await #expect(throws: DeclarationError.self) {
                try await session.replace(sensor) { GATTService(0xC201, handle: 0x00C5) { sensor.value } }
            }
            #expect(session.subscriptions.map(\.characteristic) == [sensor.value.uuid])
            try await session.notify(sensor.value, 5)
            #expect(try await central.nextUpdate(of: sensor.value) == 5)
        }
    }

    /// A central that does not confirm is disconnected, because bluetoothd would use freed memory.
    @Test func aCentralThatDoesNotConfirmIsDisconnected() async throws {
        let sensor = Sensor(0, [.read, .indicate])
        try await Self.run { running in
            let (_, indication) = try await running.addUnconfirmed(sensor)
            var events = running.session.events.makeAsyncIterator()
            try await running.session.remove(sensor)
            await #expect(throws: PeripheralError.self) { try await indication.value }
            while case let event? = try await events.next() {
                if case .disconnected = event { break }
            }
            #expect(try await running.found() == [.battery])
        }
    }

    /// If bluetoothd does not disconnect the central, the service stays until the central confirms.
    @Test func aRemovalWaitsIfBluetoothdDoesNotDisconnect() async throws {
        let sensor = Sensor(0, [.read, .indicate])
        let (log, clock) = (LogRecorder(), ManualClock())
        try await Self.run(logger: log.logger, clock: clock) { running in
            let (central, indication) = try await running.addUnconfirmed(sensor)
            let removal = try await running.removeWithoutDisconnecting(sensor, log, clock)
            let found = try await central.discover().applicationServices.map(\.uuid)
            #expect(found == [.battery, sensor.uuid])
            central.setConfirmsIndications(true)
            try await indication.value
            try await removal.value
            #expect(try await running.found() == [.battery])
        }
        #expect(!log.lines.contains { $0.contains("still unconfirmed") })
    }

    /// The wait ends when bluetoothd has no reason to keep the indication.
    @Test func aRemovalDoesNotWaitForever() async throws {
        let sensor = Sensor(0, [.read, .indicate])
        let (log, clock) = (LogRecorder(), ManualClock())
        try await Self.run(logger: log.logger, clock: clock) { running in
            let (_, indication) = try await running.addUnconfirmed(sensor)
            let removal = try await running.removeWithoutDisconnecting(sensor, log, clock)
            try await until {
                clock.advance(by: .seconds(1))
                return log.lines.contains { $0.contains("still unconfirmed") }
            }
            try await removal.value
            await #expect(throws: PeripheralError.self) { try await indication.value }
            #expect(try await running.found() == [.battery])
        }
    }

    /// Another program takes the handles of an added service before the service comes back.
    @Test func theFirstMoveOfAnAddedServiceIsReported() async throws {
        // Only the sensor moves.
        let gateway = Peripheral("Gateway", restorationIdentifier: "com.example.gateway") {
            GATTService(.battery, handle: 0x0200) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        let sensor = Sensor(0)
        let store = InMemoryRestorationStore()
        let clock = ManualClock()
        try await withEmulatedBlueZ { bluez in
            let backend = bluez.backend(clock: clock)
            try await gateway.run(on: backend, restoringFrom: store, logger: .silent) { session in
                var events = session.events.makeAsyncIterator()
                try await session.add { sensor }
                let before = try #require(try session.handle(of: sensor.value))
                // The gateway waits for its clock, so the other program is first.
                await bluez.killDaemon()
                try await bluez.setPermitted(false)
                try await bluez.startDaemon()
                try await until { session.state.radio == .unauthorized }
                try await bluez.setPermitted(true)
                let other = Peripheral("Other") {
                    GATTService(0x1815, handle: before) { Characteristic<UInt8>(0x2A56, value: 1) }
                }
                try await other.run(on: bluez.backend, logger: .silent) { _ in
                    try await until {
                        clock.advance(by: .seconds(1))
                        return session.state.isOnTheAir
                    }
                    #expect(try session.handle(of: sensor.value) != before)
                    try await bluez.central(for: gateway).connect()
                }
                var reports = 0
                while let event = try await events.next() {
                    if event == .handlesChanged { reports += 1 }
                    if case .connected = event { break }
                }
                #expect(reports == 1)
            }
        }
    }

    /// Another program takes the handles of a pinned service before the service comes back.
    @Test func aRefusedServiceReturnsWithTheNextPublication() async throws {
        let pinned = GATTService(0xC200, handle: 0x0200) { Characteristic<UInt8>(0x2A6E, value: 7) }
        let sensors = [Sensor(1), Sensor(2)]
        let (clock, log) = (ManualClock(), LogRecorder())
        try await Self.run(logger: log.logger, clock: clock) { running in
            let (bluez, session) = (running.bluez, running.session)
            /// Makes a change while the clock advances.
            @Sendable func make(_ change: @escaping @Sendable () async throws -> Void) async throws {
                let ended = Log<Void>()
                let task = Task {
                    defer { ended.append(()) }
                    try await change()
                }
                try await until {
                    clock.advance(by: .seconds(1))
                    return !ended.entries.isEmpty
                }
                try await task.value
            }
            try await session.add { pinned }
            try await session.add { sensors[0] }
            // The gateway waits for its clock, so the other program is first.
            await bluez.killDaemon()
            try await bluez.setPermitted(false)
            try await bluez.startDaemon()
            try await until { session.state.radio == .unauthorized }
            try await bluez.setPermitted(true)
            let other = Peripheral("Other") {
                GATTService(0x1815, handle: 0x0202) { Characteristic<UInt8>(0x2A56, value: 1) }
            }
            try await other.run(on: bluez.backend, logger: .silent) { _ in
                try await until {
                    clock.advance(by: .seconds(1))
                    return session.state.isOnTheAir
                }
                #expect(try await running.found() == [.battery, 0xC201, 0x1815])
                // The other services change as before.
                try await make {
                    try await session.add { sensors[1] }
                    try await session.remove(sensors[0])
                }
                #expect(try await running.found() == [.battery, 0xC202, 0x1815])
                // A replacement that is refused as well loses nothing.
                await #expect(throws: PeripheralError.self) {
                    try await make {
                        try await session.replace(pinned) {
                            GATTService(0xC203, handle: 0x0200) { Characteristic<UInt8>(0x2A6F, value: 8) }
                        }
                    }
                }
                #expect(Set(session.services.map(\.uuid)) == [.battery, 0xC200, 0xC202])
                // Time and connections cause no attempts, which would cost handles and indications.
                let central = try await running.central()
                let before = try await central.discover()
                for _ in 0..<100 {
                    clock.advance(by: .seconds(1))
                    try await bluez.central(for: running.gateway).connect()
                }
                #expect(try await central.discover() == before)
            }
            #expect(log.lines.count { $0.contains("Added services are off the air") } == 2)
            var states = running.gateway.states.makeAsyncIterator()
            try await bluez.restartDaemon()
            while try await states.next()?.isOnTheAir == true {}
            try await until {
                clock.advance(by: .seconds(1))
                return session.state.isOnTheAir
            }
            #expect(try await running.found() == [.battery, 0xC200, 0xC202])
            try await session.remove(pinned)
            #expect(try await running.found() == [.battery, 0xC202])
        }
    }

    /// Handles that are not reserved make bluetoothd indicate more than each addition.
    @Test(arguments: [(reserved: 0, services: 1), (64, 17)])
    func theLogNamesAReservationThatIsTooSmall(reserved: Int, services: Int) async throws {
        let log = LogRecorder()
        let gateway = Self.gateway(reservedHandles: reserved)
        @Sendable func notices() -> Int {
            log.lines.count { $0.contains("reservedHandles") }
        }
        try await Self.run(gateway, logger: log.logger) { running in
            // A sensor has 4 handles.
            let sensors = (0..<services).map { Sensor(UInt8($0)) }
            for sensor in sensors.dropLast() { try await running.session.add { sensor } }
            #expect(notices() == 0)
            for sensor in sensors.suffix(1) { try await running.session.add { sensor } }
            #expect(notices() == 1)
            try await running.session.add { Sensor(100) }
            #expect(notices() == 1)
        }
    }

    /// During a recovery, added services are registered before further handles are reserved.
    @Test func theLogNamesNoReservationDuringARecovery() async throws {
        let log = LogRecorder()
        let gateway = Self.gateway(reservedHandles: 64)
        try await Self.run(gateway, logger: log.logger) { running in
            var states = gateway.states.makeAsyncIterator()
            try await running.session.add { Sensor(0) }
            try await running.bluez.restartDaemon()
            while try await states.next()?.isOnTheAir == true {}
            while try await states.next()?.isOnTheAir == false {}
            #expect(try await running.found() == [.battery, 0xC200])
            #expect(!log.lines.contains { $0.contains("reservedHandles") })
        }
    }

    /// Two programs with services of the same type and size change them at the same time.
    @Test(arguments: daemons)
    func twoProgramsChangeTheirServices(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withEmulatedBlueZ(daemon) { bluez in
            try await withThrowingTaskGroup { group in
                for program in 0..<2 {
                    group.addTask {
                        let gateway = Self.gateway("Gateway \(program)", reservedHandles: 64)
                        let sensors = (0..<8).map { Sensor(UInt8(10 * program + $0), uuid: 0xC200) }
                        try await gateway.run(on: bluez.backend, logger: .silent) { session in
                            let central = bluez.central(for: gateway)
                            try await central.connect()
                            var random = SeededGenerator(seed: UInt64(program))
                            var present: Set<Int> = []
                            for _ in 0..<25 {
                                let number = Int.random(in: sensors.indices, using: &random)
                                if present.remove(number) != nil {
                                    try await session.remove(sensors[number])
                                } else {
                                    present.insert(number)
                                    try await session.add { sensors[number] }
                                }
                                let handles = try await central.discover().services.map(\.handles)
                                for (first, second) in zip(handles, handles.dropFirst()) {
                                    #expect(first.upperBound < second.lowerBound)
                                }
                                for number in present {
                                    let value = try await central.read(sensors[number].value)
                                    #expect(value == UInt8(10 * program + number))
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// What this version cannot serve is refused before anything is sent.
    @Test func aServiceThatBlueZCannotHaveIsRefused() async throws {
        try await Self.run { running in
            let central = try await running.central()
            let before = try await central.discover()
            await #expect(throws: DeclarationError.self) {
                try await running.session.add {
                    GATTService(0xC200, handle: 0x00C5) { Characteristic<UInt8>(0x2A19, value: 1) }
                }
            }
            #expect(try await central.discover() == before)
        }
    }

    /// These versions refuse services that are not pinned.
    @Test(arguments: [BlueZVersion("5.74"), "5.75"])
    func aServiceMustBePinnedIfBlueZReportsNoHandles(version: BlueZVersion) async throws {
        let gateway = Peripheral("Gateway") {
            GATTService(.battery, handle: 0x0100) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        try await Self.run(gateway, on: .init(version: version)) { running in
            let central = try await running.central()
            let before = try await central.discover()
            let sensor = Sensor(0)
            let error = await #expect(throws: DeclarationError.self) {
                try await running.session.add { sensor }
            }
            let issue = try #require(error?.issues.first)
            #expect(issue.reason == "BlueZ \(version) cannot assign handles to characteristics")
            #expect(issue.remedy.hasPrefix("pin the service"))
            #expect(running.session.services.map(\.uuid) == [.battery])
            #expect(try await central.discover() == before)
            try await running.session.add {
                GATTService(0xC200, handle: 0x0120) { Characteristic<UInt8>(0x2A19, value: 1) }
            }
            #expect(try await running.found() == [.battery, 0xC200])
        }
    }
}

extension ChangingServicesTests.Running {
    /// Begins to remove a sensor, and forbids to disconnect its central until that was tried.
    fileprivate func removeWithoutDisconnecting(
        _ sensor: ChangingServicesTests.Sensor,
        _ log: LogRecorder,
        _ clock: ManualClock
    ) async throws -> Task<Void, any Error> {
        try await bluez.setPermitted(false)
        let removal = Task { try await session.remove(sensor) }
        try await until {
            clock.advance(by: .milliseconds(100))
            return log.lines.contains { $0.contains("does not disconnect it") }
        }
        try await bluez.setPermitted(true)
        return removal
    }
}
