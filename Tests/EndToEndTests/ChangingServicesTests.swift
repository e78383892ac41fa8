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
    private struct Sensor: GATTServiceDeclaration {
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

    private static func gateway(_ name: String = "Gateway", reservedHandles: Int = 0) -> Peripheral {
        Peripheral(name, reservedHandles: reservedHandles) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
    }

    @Test(arguments: Fault.all) func theCurrentSetComesBack(fault: Fault) async throws {
        let gateway = Self.gateway()
        let sensors = (0..<4).map { Sensor(UInt8($0)) }
        try await withEmulatedBlueZ { bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                var states = gateway.states.makeAsyncIterator()
                for sensor in sensors.prefix(3) { try await session.add { sensor } }
                let handles = try sensors.prefix(3).map { try session.handle(of: $0.value) }
                try await fault.happen(bluez)
                while try await states.next()?.isOnTheAir == true {}
                // Off the air, changes are recorded.
                try await session.remove(sensors[0])
                try await session.add { sensors[3] }
                try await fault.mend(bluez)
                while try await states.next()?.isOnTheAir == false {}
                let central = bluez.central(for: gateway)
                try await central.connect()
                let found = try await central.discover().applicationServices
                #expect(Set(found.map(\.uuid)) == [.battery, 0xC201, 0xC202, 0xC203])
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
    }

    /// bluetoothd ends while a removal waits for a confirmation.
    @Test func aRemovalIsRecordedWhenBluetoothdIsKilled() async throws {
        let gateway = Self.gateway()
        let sensor = Sensor(0, [.read, .indicate])
        try await withEmulatedBlueZ { bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                var states = gateway.states.makeAsyncIterator()
                try await session.add { sensor }
                let central = bluez.central(for: gateway)
                try await central.connect()
                try await central.setConfirmsIndications(false)
                try await central.subscribe(to: sensor.value)
                _ = try await session.waitForSubscriber(of: sensor.value)
                let indication = Task { try await session.indicate(sensor.value, 5) }
                _ = try await central.nextUpdate(of: sensor.value)
                let removal = Task { try await session.remove(sensor) }
                await bluez.killDaemon()
                await #expect(throws: PeripheralError.self) { try await indication.value }
                try await removal.value
                while try await states.next()?.isOnTheAir == true {}
                try await bluez.startDaemon()
                while try await states.next()?.isOnTheAir == false {}
                let again = bluez.central(for: gateway)
                try await again.connect()
                #expect(try await again.discover().applicationServices.map(\.uuid) == [.battery])
            }
        }
    }

    /// A central that does not confirm is disconnected, because bluetoothd would use freed memory.
    @Test func aCentralThatDoesNotConfirmIsDisconnected() async throws {
        let gateway = Self.gateway()
        let sensor = Sensor(0, [.read, .indicate])
        try await withEmulatedBlueZ { bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                try await session.add { sensor }
                let central = bluez.central(for: gateway)
                try await central.connect()
                try await central.setConfirmsIndications(false)
                try await central.subscribe(to: sensor.value)
                _ = try await session.waitForSubscriber(of: sensor.value)
                let indication = Task { try await session.indicate(sensor.value, 5) }
                _ = try await central.nextUpdate(of: sensor.value)
                var events = session.events.makeAsyncIterator()
                try await session.remove(sensor)
                await #expect(throws: PeripheralError.self) { try await indication.value }
                while case let event? = try await events.next() {
                    if case .disconnected = event { break }
                }
                let another = bluez.central(for: gateway)
                try await another.connect()
                #expect(try await another.discover().applicationServices.map(\.uuid) == [.battery])
            }
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
        let gateway = Self.gateway()
        try await withEmulatedBlueZ { bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                let central = bluez.central(for: gateway)
                try await central.connect()
                let before = try await central.discover()
                await #expect(throws: DeclarationError.self) {
                    try await session.add {
                        GATTService(0xC200, handle: 0x00C5) { Characteristic<UInt8>(0x2A19, value: 1) }
                    }
                }
                #expect(try await central.discover() == before)
            }
        }
    }
}
