import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// What a change of the services costs if it is refused, and what it must not cost.
@Suite(.timeLimit(.minutes(1)))
struct RefusedServicesTests {
    /// A service that records its work.
    private struct Sensor: GATTServiceDeclaration {
        let value = Characteristic<UInt8>(0x2A6E, [.read, .notify]) { Read { 7 } }
        let log = Log<String>()

        var service: GATTService { GATTService(0x181A) { value } }

        func run(in session: PeripheralSession) async throws {
            log.append("begins")
            for await _ in AsyncStream<Never>.makeStream().stream {}
        }
    }

    private let base = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }

    private var gateway: Peripheral {
        Peripheral("Gateway") { GATTService(0x180F) { base } }
    }

    /// A service with 255 handles, of which three fit below 0x0400.
    private func largeService(_ uuid: BluetoothUUID) -> GATTService {
        let values = (0..<127).map { _ in Characteristic<UInt8>(0x2A6E, .read) { Read { 7 } } }
        return GATTService(uuid) { values }
    }

    @Test func aServiceWithAMalformedUUIDIsRefused() async throws {
        try await gateway.test { _, session in
            let error = await #expect(throws: DeclarationError.self) {
                try await session.add { GATTService("18OF") { Characteristic<UInt8>(0x2A6E, value: 1) } }
            }
            #expect(error?.issues.map(\.element) == ["service \"18OF\" (not a UUID)"])
        }
    }

    @Test func aLookupSaysThatALiteralIsNotAUUID() async throws {
        try await gateway.test { central, session in
            let other = Characteristic<UInt8>("2A19g", .notify)
            let lookup = await #expect(throws: TestCentralError.self) {
                _ = try await central.read(other)
            }
            #expect(lookup?.message.contains("characteristic \"2A19g\" (not a UUID)") == true)
            let update = await #expect(throws: PeripheralError.self) { try await session.notify(other, 1) }
            #expect(update?.message.contains("\"2A19g\" (not a UUID)") == true)
            let descriptor = await #expect(throws: TestCentralError.self) {
                _ = try await central.read("29O1", of: base)
            }
            #expect(descriptor?.message == "Characteristic 2a19 has no descriptor \"29O1\" (not a UUID).")
        }
    }

    @Test func aRefusedReplacementChangesNothing() async throws {
        let sensor = Sensor()
        try await gateway.test(as: .specification) { central, session in
            try await session.add { sensor }
            try await central.subscribe(to: sensor.value)
            try await until { sensor.log.entries == ["begins"] }
            // The stack itself has these handles.
            await #expect(throws: PeripheralError.self) {
                try await session.replace(sensor) { GATTService(0x181B, handle: 0x0001) { sensor.value } }
            }
            #expect(sensor.log.entries == ["begins"])
            #expect(session.subscriptions.map(\.characteristic) == [0x2A6E])
            try await session.notify(sensor.value, 9)
            #expect(try await central.nextUpdate(of: sensor.value) == 9)
        }
    }

    /// The stack refuses the new service only after the earlier service is gone.
    @Test func anEarlierServiceReturnsAfterARefusal() async throws {
        let (sensor, gateway) = (Sensor(), gateway)
        let memory = InMemoryBackend()
        let backend = InterceptedBackend(
            memory,
            submit: { $1.submit($0) },
            add: { services, link in
                guard services.table.services.map(\.uuid) != [0x181B] else {
                    throw PeripheralError(code: .rejected, message: "There is no memory.")
                }
                try await link.add(services)
            }
        )
        try await gateway.run(on: backend, logger: .silent) { session in
            let central = memory.makeCentral(of: gateway)
            try await central.connect()
            try await session.add { sensor }
            let before = try await central.discover()
            await #expect(throws: PeripheralError.self) {
                try await session.replace(sensor) { GATTService(0x181B) { sensor.value } }
            }
            #expect(try await central.discover() == before)
            #expect(try await central.read(sensor.value) == 7)
            #expect(session.services.map(\.uuid) == [0x180F, 0x181A])
        }
    }

    @Test func aRemovedPinnedServiceKeepsItsPlace() async throws {
        let pinned = GATTService(0x181A, handle: 0x0100) { Characteristic<UInt8>(0x2A6E, value: 1) }
        let value = Characteristic<UInt8>(0x2A6F, value: 2)
        try await gateway.test { central, session in
            try await session.add { pinned }
            try await session.remove(pinned)
            try await session.add { GATTService(0x181B) { value } }
            #expect(try session.handle(of: value) == 0x0105)
            try await session.add { pinned }
            #expect(try await central.read(value) == 2)
        }
    }

    @Test func handlesFrom0x0400AreUsedOnlyIfTheProgramAllowsIt() async throws {
        let (log, gateway) = (LogRecorder(), gateway)
        let memory = InMemoryBackend()
        let services = (0..<5).map { largeService(BluetoothUUID(0xC100 + UInt16($0))) }
        try await gateway.run(on: memory, logger: log.logger) { session in
            let central = memory.makeCentral(of: gateway)
            try await central.connect()
            func ends() async throws -> [UInt16] {
                try await central.discover().applicationServices.map(\.handles.upperBound.rawValue)
            }
            for service in services.prefix(3) { try await session.add { service } }
            let full = try await ends()
            #expect(full.allSatisfy { $0 < 0x0400 })
            await #expect(throws: DeclarationError.self) { try await session.add { services[3] } }
            #expect(try await ends() == full)
            // A replacement takes the handles of the earlier service first.
            try await session.replace(services[0], mayFreezeDatabaseHash: true) { services[4] }
            #expect(try await ends().allSatisfy { $0 < 0x0400 })
            for service in [services[0], services[3]] {
                try await session.add(mayFreezeDatabaseHash: true) { service }
            }
            #expect(try await ends().count { $0 >= 0x0400 } == 2)
        }
        #expect(log.lines.count { $0.contains("Database Hash") } == 1)
    }

    @Test func aServiceIsPresentOnlyOnce() async throws {
        let empty = GATTService(0x1815) {}
        try await gateway.test { central, session in
            try await session.add { empty }
            await #expect(throws: DeclarationError.self) { try await session.add { empty } }
            await #expect(throws: DeclarationError.self) {
                try await session.add {
                    GATTService(0x1816) { Characteristic<UInt8>(0x2A6E, value: 1) }
                    empty
                }
            }
            #expect(session.services.map(\.uuid) == [0x180F, 0x1815])
            try await session.remove(empty)
            #expect(try await central.discover().applicationServices.map(\.uuid) == [0x180F])
        }
    }

    @Test func aProcedureIsCancelledWithItsService() async throws {
        let log = Log<String>()
        let controlPoint = Characteristic<UInt8>(0x2A55, [.write, .indicate]) {
            ControlPoint(perform: { (request: UInt8, _, _) in
                log.append("begins")
                for await _ in AsyncStream<Never>.makeStream().stream {}
                log.append(Task.isCancelled ? "is cancelled" : "continues")
                return request
            })
        }
        let service = GATTService(0x1816) { controlPoint }
        try await gateway.test { central, session in
            try await session.add { service }
            try await central.subscribe(to: controlPoint, for: .indication)
            try await central.write(1 as UInt8, to: controlPoint)
            try await until { log.entries == ["begins"] }
            try await session.remove(service)
            try await until { log.entries == ["begins", "is cancelled"] }
        }
    }

    @Test func aChangeContinuesIfItsCallerIsCancelled() async throws {
        let (begun, log) = (Log<Void>(), Log<String>())
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let value = Characteristic<UInt8>(0x2A6E, [.read, .notify]) {
            Read {
                begun.append(())
                for await _ in gate { break }
                log.append(Task.isCancelled ? "cancelled" : "answered")
                return 4
            }
        }
        let service = GATTService(0x181A) { value }
        try await gateway.test { central, session in
            try await session.add { service }
            async let reading = central.read(value)
            try await until { !begun.entries.isEmpty }
            let removal = Task { try await session.remove(service) }
            try await until { (try? session.update(value, 1)) == nil }
            removal.cancel()
            let waiting = Task { try await session.add { service } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            open.finish()
            #expect(try await reading == 4)
            _ = await removal.result
            try await until { session.services.map(\.uuid) == [0x180F] }
            #expect(log.entries == ["answered"])
        }
    }

    /// A change in a cancelled task would no longer wait, and disconnect the central.
    @Test func aCancelledCallerDoesNotShortenTheWaitForAConfirmation() async throws {
        let value = Characteristic<UInt8>(0x2A6E, [.read, .indicate]) { Read { 7 } }
        let service = GATTService(0x181A) { value }
        try await gateway.test { central, session in
            try await session.add { service }
            central.setConfirmsIndications(false)
            try await central.subscribe(to: value, for: .indication)
            async let indication: Void = session.indicate(value, 5)
            _ = try await central.nextUpdate(of: value)
            let removal = Task { try await session.remove(service) }
            try await until { (try? session.update(value, 1)) == nil }
            removal.cancel()
            for _ in 0..<100 { #expect(try await central.read(base) == 1) }
            central.setConfirmsIndications(true)
            try await indication
            _ = await removal.result
            #expect(session.services.map(\.uuid) == [0x180F])
            #expect(try await central.read(base) == 1)
        }
    }

    @Test func durableValuesOfARemovedServiceAreCounted() async throws {
        let value = Characteristic<UInt8>(0x2A6E, [.read, .notify], updates: .durable) { Read { 1 } }
        let service = GATTService(0x181A) { value }
        let peripheral = Peripheral("Gateway", restorationIdentifier: "gateway", pairing: .justWorks) {
            GATTService(0x180F) { base }
        }
        let memory = InMemoryBackend()
        let store = InMemoryRestorationStore()
        try await peripheral.run(on: memory, restoringFrom: store, logger: .silent) { session in
            let central = memory.makeCentral(of: peripheral)
            try await central.connect()
            try await central.pair(.justWorks)
            try await session.add { service }
            try await central.subscribe(to: value)
            try await until { !session.subscriptions.isEmpty }
            central.disconnect()
            try await until { session.centrals.isEmpty }
            for number in 1...3 as ClosedRange<UInt8> { try await session.notify(value, number) }
            try await session.remove(service)
            let total = session.updateTotals.first { $0.characteristic == 0x2A6E }
            #expect(total?.counters.dropped == 3)
        }
    }
}
