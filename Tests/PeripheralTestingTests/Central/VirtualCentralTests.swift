import Logging
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralTesting

@Suite(.timeLimit(.minutes(1)))
struct VirtualCentralTests {
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 50 } }
    private let fixed = Characteristic<UInt8>(0x2A38, value: 1)

    private var peripheral: Peripheral {
        Peripheral("Central") {
            GATTService(0x180F) {
                level; fixed
            }
        }
    }

    private static func expect<Output>(
        _ code: TestCentralError.Code,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ operation: () async throws -> Output
    ) async {
        let error = await #expect(throws: TestCentralError.self, sourceLocation: sourceLocation) {
            _ = try await operation()
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }

    // MARK: Connecting

    @Test func nothingIsFoundWhereNothingIsOnTheAir() async throws {
        let backend = InMemoryBackend()
        let central = backend.makeCentral(of: peripheral)
        #expect(central.scan().isEmpty)
        await Self.expect(.notFound) { try await central.connect() }
        try await peripheral.run(on: backend) { _ in
            #expect(central.scan().count == 1)
            try await central.connect()
        }
        #expect(central.scan().isEmpty)
    }

    @Test func withoutAConnectionNothingWorks() async throws {
        try await peripheral.test { central in
            await Self.expect(.alreadyConnected) { try await central.connect() }
            central.disconnect()
            central.disconnect()
            #expect(central.mtu == 23)
            await Self.expect(.notConnected) { try await central.discover() }
            await Self.expect(.notConnected) { try await central.read(level) }
            await Self.expect(.notConnected) { try await central.write(level, 1) }
            await Self.expect(.notConnected) { try await central.writeWithoutResponse(level, 1) }
            await Self.expect(.notConnected) { try await central.executePreparedWrites(commit: true) }
            await Self.expect(.notConnected) { try await central.subscribe(to: level) }
            await Self.expect(.notConnected) { try await central.nextUpdate(of: level) }
        }
    }

    @Test(arguments: [23, 185, 517])
    func theMTUIsThatOfTheCentral(mtu: Int) async throws {
        try await peripheral.test(mtu: mtu) { central in
            #expect(central.mtu == mtu)
        }
    }

    @Test func everyCentralHasItsAddress() async throws {
        try await peripheral.test { central in
            let other = central.makeAnother()
            #expect(other.address != central.address)
            #expect(other.address.randomKind == .static)
        }
    }

    // MARK: Finding

    @Test func onlyWhatIsDeclaredIsFound() async throws {
        let foreign = Characteristic<UInt8>(0x2A19, value: 1)
        try await peripheral.test { central in
            await Self.expect(.notFound) { try await central.read(foreign) }
            await Self.expect(.notFound) { try await central.read(.characteristicUserDescription, of: level) }
            await Self.expect(.notFound) { try await central.subscribe(to: fixed) }
            await Self.expect(.notFound) { try await central.subscribe(0x0001, to: .notification) }
        }
    }

    @Test func anApplicationMayHaveItsOwnDeviceInformation() async throws {
        let vendor = Characteristic<[UInt8]>(0x2A50, value: [1])
        let peripheral = Peripheral("Vendor") { GATTService(0x180A) { vendor } }
        try await peripheral.test { central in
            let database = try await central.discover()
            #expect(database.services.count == 4)
            #expect(database.applicationServices.count == 1)
            #expect(try await central.read(vendor) == [1])
        }
    }

    @Test func packetsHaveTheirLimit() async throws {
        try await peripheral.test(mtu: 23) { central in
            let value = [UInt8](repeating: 0, count: 21)
            await Self.expect(.invalidArgument) { try await central.write(0x0017, value) }
            await Self.expect(.invalidArgument) { try await central.writeWithoutResponse(0x0017, value) }
            await Self.expect(.invalidArgument) {
                try await central.prepareWrite(0x0017, [UInt8](repeating: 0, count: 19), offset: 0)
            }
        }
    }

    // MARK: Updates

    @Test func patienceIsLimited() async throws {
        let clock = ManualClock()
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend) { [peripheral] session in
            let central = backend.makeCentral(of: peripheral, patience: .seconds(3), clock: clock)
            try await central.connect()
            try await central.subscribe(to: level)
            let waiting = Task { try await central.nextUpdate(of: level) }
            await clock.waitForSleeper()
            clock.advance(by: .seconds(3))
            let error = await #expect(throws: TestCentralError.self) { try await waiting.value }
            #expect(error?.code == .timedOut)
            let handle = try await central.locate(level).valueHandle
            #expect(
                error?.description
                    == "No update of characteristic 2a19 (handle \(handle)) arrived within 3.0 seconds."
            )
            // The wait that timed out loses no update.
            try await session.notify(level, 1)
            #expect(try await central.nextUpdate(of: level) == 1)
        }
    }

    @Test func disconnectionEndsTheWait() async throws {
        let clock = ManualClock()
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend) { [peripheral] session in
            let central = backend.makeCentral(of: peripheral, clock: clock)
            try await central.connect()
            try await central.subscribe(to: level)
            let handle = try await central.locate(level).valueHandle
            let waiting = Task { try await central.nextUpdate(of: level) }
            await clock.waitForSleeper()
            try await session.notify(level, 1)
            #expect(try await waiting.value == 1)

            try await session.notify(level, 2)
            let waitingLonger = Task {
                _ = try await central.nextUpdate(of: handle)
                return try await central.nextUpdate(of: handle)
            }
            await clock.waitForSleeper()
            central.disconnect()
            await Self.expect(.disconnected) { try await waitingLonger.value }
        }
    }

    @Test func whatHasArrivedOutlivesTheConnection() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: level)
            let handle = try await central.locate(level).valueHandle
            try await session.notify(level, 1)
            central.disconnect()
            #expect(
                try await central.nextUpdate(of: handle) == ReceivedUpdate(kind: .notification, value: [1])
            )
            await Self.expect(.notConnected) { try await central.nextUpdate(of: handle) }
        }
    }

    @Test func withoutASubscriptionTheWaitFailsAtOnce() async throws {
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend) { [peripheral] session in
            // The time of the clock does not pass, so a wait would not end.
            let central = backend.makeCentral(of: peripheral, clock: ManualClock())
            try await central.connect()
            let handle = try await central.locate(level).valueHandle
            try await expectNotSubscribed(
                "The central has not subscribed to characteristic 2a19 (handle \(handle)), so no update can "
                    + "arrive. Call subscribe(to:) before nextUpdate(of:), in each connection of an unbonded "
                    + "central."
            ) { try await central.nextUpdate(of: level) }
            try await expectNotSubscribed(
                "The central has not subscribed to characteristic 2a38 (handle "
                    + "\(try await central.locate(fixed).valueHandle)), so no update can arrive. Declare the "
                    + "characteristic with the property .notify or .indicate."
            ) { try await central.nextUpdate(of: fixed) }
            try await expectNotSubscribed(
                "The central has no subscription, so no update can arrive. Call subscribe(to:) before "
                    + "nextUpdate()."
            ) { try await central.nextUpdate() }

            // A subscription ends with the connection.
            try await central.subscribe(to: level)
            central.disconnect()
            try await central.connect()
            await Self.expect(.notSubscribed) { try await central.nextUpdate(of: level) }
        }
    }

    private func expectNotSubscribed<Output>(
        _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ operation: () async throws -> Output
    ) async throws {
        let error = await #expect(throws: TestCentralError.self, sourceLocation: sourceLocation) {
            _ = try await operation()
        }
        #expect(error?.code == .notSubscribed, sourceLocation: sourceLocation)
        #expect(error?.description == message, sourceLocation: sourceLocation)
    }

    @Test func whatHasArrivedOutlivesTheSubscription() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: level)
            try await session.notify(level, 1)
            try await session.notify(level, 2)
            try await central.unsubscribe(from: level)
            #expect(try await central.nextUpdate(of: level) == 1)
            #expect(try await central.nextUpdate().update.value == [2])
            await Self.expect(.notSubscribed) { try await central.nextUpdate(of: level) }
        }
    }

    @Test func updatesAreASequence() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: level)
            for number: UInt8 in 1...5 { try await session.notify(level, number) }
            var received: [UInt8] = []
            for try await number in central.updates(of: level) {
                received.append(number)
                if number == 5 { break }
            }
            #expect(received == [1, 2, 3, 4, 5])
        }
    }

    // MARK: Requests

    @Test func requestsGoOneByOne() async throws {
        let (events, happen) = AsyncStream.makeStream(of: String.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let slow = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                happen.yield("slow begins")
                for await _ in released { break }
                happen.yield("slow ends")
                return 1
            }
        }
        let quick = Characteristic<UInt8>(0x2A38, .read) {
            Read {
                happen.yield("quick")
                return 2
            }
        }
        let peripheral = Peripheral("Queue") {
            GATTService(0x180F) {
                slow; quick
            }
        }
        let backend = InMemoryBackend()
        // However long it takes to get to the end of the wait, the slow handler is not late.
        try await peripheral.run(on: backend, logger: Logger(label: "queue"), clock: ManualClock()) { _ in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            var order = events.makeAsyncIterator()
            async let first = central.read(slow)
            #expect(await order.next() == "slow begins")
            async let second = central.read(quick)
            try await until { central.requests.waiting > 0 }
            release.yield()
            #expect(await order.next() == "slow ends")
            #expect(await order.next() == "quick")
            #expect(try await first == 1)
            #expect(try await second == 2)
        }
    }

    @Test func disconnectionCancelsTheHandler() async throws {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let value = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                enter.yield()
                for await _ in AsyncStream(Never.self, { _ in }) {}
                return 1
            }
        }
        try await Peripheral("Gone") { GATTService(0x180F) { value } }.test { central in
            let reading = Task { try await central.read(value) }
            for await _ in entered { break }
            central.disconnect()
            await Self.expect(.disconnected) { try await reading.value }
        }
    }

    @Test func aCancelledRequestIsNotSent() async throws {
        try await peripheral.test { central in
            let handle = try await central.locate(level).valueHandle
            let reading = Task {
                for await _ in AsyncStream(Never.self, { _ in }) {}
                return try await central.read(handle, offset: 0)
            }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        }
    }

    // MARK: Pairing

    private let secret = Characteristic<UInt8>(0x2A39, value: 7, security: .encrypted)

    private func peripheral(pairing: Pairing) -> Peripheral {
        Peripheral("Paired", pairing: pairing) { GATTService(0x180F) { secret } }
    }

    @Test func pairingOpensWhatIsEncrypted() async throws {
        try await peripheral(pairing: .justWorks).test { central async throws in
            await #expect(throws: ATTError.insufficientEncryption) { try await central.read(secret) }
            try await central.pair(.justWorks)
            #expect(try await central.read(secret) == 7)
            central.disconnect()
            try await central.connect()
            #expect(try await central.read(secret) == 7)
        }
    }

    @Test func passkeyIsThatOfThePeripheral() async throws {
        try await peripheral(pairing: .displayPasskey { _, _ in }).test { central async throws in
            // Just Works would prove nothing.
            await Self.expect(.pairingFailed) { try await central.pair(.justWorks) }
            try await central.pair(.enteringDisplayedPasskey)
            #expect(try await central.read(secret) == 7)
        }
    }
}
