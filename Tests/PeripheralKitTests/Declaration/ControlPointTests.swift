import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct ControlPointTests {
    private struct Failure: Error {}

    @Test func whatTheHandlerSendsComesBeforeTheResponse() async throws {
        let record = Characteristic<UInt8>(0x2A18, .notify)
        let controlPoint = Characteristic<UInt16>(0x2A52, [.write, .indicate]) {
            ControlPoint(perform: { (request: UInt8, central, session) in
                for number in 0..<request { try await session.notify(record, number, to: central) }
                return 0x0106
            })
        }
        let peripheral = Peripheral("Records") {
            GATTService(0x1808) {
                record
                controlPoint
            }
        }
        try await peripheral.test { central in
            try await central.subscribe(to: record)
            try await central.subscribe(to: controlPoint)
            try await central.write(UInt8(3), to: controlPoint)
            let handles = try await (
                central.locate(record).valueHandle, central.locate(controlPoint).valueHandle
            )
            for number: UInt8 in 0..<3 {
                let (handle, update) = try await central.nextUpdate()
                #expect(handle == handles.0 && update.value == [number])
            }
            let (handle, update) = try await central.nextUpdate()
            #expect(handle == handles.1 && update.value == [0x06, 0x01])
        }
    }

    @Test func responsesAreNotifiedWhereThatIsDeclared() async throws {
        let controlPoint = Characteristic<UInt8>(0x2A52, [.write, .notify]) {
            ControlPoint { (request: UInt8) in request + 1 }
        }
        try await Peripheral("P") { GATTService(0x1808) { controlPoint } }.test { central in
            try await central.subscribe(to: controlPoint)
            #expect(try await central.request(UInt8(1), of: controlPoint) == 2)
            let update = try await central.nextUpdateKind(after: UInt8(2), of: controlPoint)
            #expect(update == .notification)
        }
    }

    /// The specifications of some services have errors of their own.
    @Test func theErrorsOfARefusalCanBeChosen() async throws {
        let controlPoint = Characteristic<UInt8>(0x2A55, [.write, .indicate]) {
            ControlPoint(
                errorWhenNotSubscribed: .application(.x81),
                errorWhenBusy: .application(.x80),
                perform: { (request: UInt8, _, _) in
                    try await Task.sleep(for: .seconds(3600))
                    return request
                }
            )
        }
        try await Peripheral("P") { GATTService(0x1816) { controlPoint } }.test { central in
            await #expect(throws: ATTError.application(.x81)) {
                try await central.write(UInt8(1), to: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            try await central.write(UInt8(1), to: controlPoint)
            await #expect(throws: ATTError.application(.x80)) {
                try await central.write(UInt8(1), to: controlPoint)
            }
        }
    }

    /// What a handler throws is for the log; the control point goes on.
    @Test func aProcedureThatFailsHasNoResponse() async throws {
        let log = LogRecorder()
        let controlPoint = Characteristic<[UInt8]>(0x2A52, [.write, .indicate], length: .upTo(4)) {
            ControlPoint { (request: UInt8) -> [UInt8] in
                switch request {
                case 1: throw Failure()
                case 2: [UInt8](repeating: 0, count: 5)
                default: [request]
                }
            }
        }
        let peripheral = Peripheral("P") { GATTService(0x1808) { controlPoint } }
        try await peripheral.test(logger: log.logger) { central in
            try await central.subscribe(to: controlPoint)
            for request: UInt8 in [1, 2] {
                try await central.write(request, to: controlPoint)
                try await until { log.lines.count == Int(request) }
            }
            var isTaken = false
            try await until {
                isTaken = (try? await central.write(UInt8(3), to: controlPoint)) != nil
                return isTaken
            }
            #expect(try await central.nextUpdate(of: controlPoint) == [3])
        }
        #expect(
            log.lines == [
                "warning: A procedure of a control point failed; the central receives no response. "
                    + "[characteristic 2a52; Failure()]",
                "warning: A procedure of a control point returned a response with a length that is not declared; "
                    + "the central receives no response. [characteristic 2a52; 5 bytes]",
            ]
        )
    }

    /// A request can concern other centrals, so its work needs the session.
    @Test func aRequestWithoutResponseIsCarriedOutBeforeTheSessionEnds() async throws {
        let began = Log<Void>()
        let isStillValid = Log<Bool>()
        let controlPoint = Characteristic<UInt8>(0x2AA4, .write) {
            ControlPoint(performWithoutResponse: { (_: UInt8, _, session) in
                began.append(())
                try? await Task.sleep(for: .seconds(3600))
                let bonded = try? await Task { try await session.bondedCentrals() }.value
                isStillValid.append(bonded != nil)
            })
        }
        try await Peripheral("P") { GATTService(0x181E) { controlPoint } }.test { central in
            try await central.write(controlPoint, 1)
            await began.untilNotEmpty()
        }
        #expect(isStillValid.entries == [true])
    }

    @Test func aRequestMayHaveNoResponse() async throws {
        let taken = Log<UInt8>()
        let controlPoint = Characteristic<UInt8>(0x2AA4, .write) {
            ControlPoint(
                accept: { request, _, _ in
                    if request == 0 { throw ATTError.application(.x80) }
                },
                performWithoutResponse: { request, _, _ in taken.append(request) }
            )
        }
        try await Peripheral("P") { GATTService(0x181E) { controlPoint } }.test { central in
            await #expect(throws: ATTError.application(.x80)) { try await central.write(controlPoint, 0) }
            try await central.write(controlPoint, 1)
            await taken.untilNotEmpty()
        }
        #expect(taken.entries == [1])
    }

    @Test func whoMayNotIsRefusedBeforeTheProcedure() async throws {
        let controlPoint = Characteristic<UInt8>(0x2A52, [.write, .indicate]) {
            ControlPoint { (request: UInt8) in request }
            Authorization { false }
        }
        try await Peripheral("P") { GATTService(0x1808) { controlPoint } }.test { central in
            try await central.subscribe(to: controlPoint)
            await #expect(throws: ATTError.insufficientAuthorization) {
                try await central.write(UInt8(1), to: controlPoint)
            }
        }
    }

    /// The run waits for the handler, which is cancelled.
    @Test func theEndOfTheSessionEndsTheProcedure() async throws {
        let began = Log<Void>()
        let ended = Log<Bool>()
        let controlPoint = Characteristic<UInt8>(0x2A52, [.write, .indicate]) {
            ControlPoint { (request: UInt8) in
                began.append(())
                try? await Task.sleep(for: .seconds(3600))
                ended.append(Task.isCancelled)
                return request
            }
        }
        try await Peripheral("P") { GATTService(0x1808) { controlPoint } }.test { central in
            try await central.subscribe(to: controlPoint)
            try await central.write(UInt8(1), to: controlPoint)
            await began.untilNotEmpty()
        }
        #expect(ended.entries == [true])
    }

    @Test func aConnectionIsToldFromOthersOfTheSameCentral() async throws {
        let value = Characteristic<UInt8>(0x2A18, value: 1)
        try await Peripheral("P") { GATTService(0x1808) { value } }.test { central, session in
            let events = session.events
            let seen = try #require(session.centrals.first)
            let first = try #require(session.connection(of: seen))
            _ = try await central.read(value)
            #expect(session.connection(of: seen) == first)
            central.disconnect()
            for await event in events { if case .disconnected = event { break } }
            #expect(session.connection(of: seen) == nil)
            try await central.connect()
            let second = try #require(session.connection(of: seen))
            #expect(second != first)
            #expect(second.isOpen && !first.isOpen)
        }
    }

    @Test func aSubscriptionIsTold() async throws {
        let value = Characteristic<UInt8>(0x2A18, .notify)
        try await Peripheral("P") { GATTService(0x1808) { value } }.test { central, session in
            let seen = try #require(session.centrals.first)
            #expect(try !session.subscribers(of: value).contains { $0.mayBe(of: seen) })
            try await central.subscribe(to: value)
            #expect(try session.subscribers(of: value).contains { $0.mayBe(of: seen) })
            #expect(
                try !session.subscribers(of: value).contains { $0.mayBe(of: Central(address: .numbered(9))) }
            )
        }
    }
}

extension TestCentral {
    fileprivate func nextUpdateKind<Response>(
        after request: some GATTValue,
        of controlPoint: Characteristic<Response>
    ) async throws -> UpdateKind {
        try await write(request, to: controlPoint)
        return try await nextUpdate(of: locate(controlPoint).valueHandle).kind
    }
}

/// The calls between the host and the backend around a procedure.
@Suite(.timeLimit(.minutes(1)))
struct ControlPointBackendTests {
    private let controlPoint = Characteristic<UInt8>(0x2A52, [.write, .indicate]) {
        ControlPoint { (request: UInt8) in request }
    }
    private let central = Central(address: .numbered(1))
    private let other = Central(address: .numbered(2))
    private let link = RecordingLink()
    private let clock = PatienceClock()

    private func run(
        subscribers: [Central?],
        _ body: @escaping @Sendable (any PeripheralHost, AttributeHandle) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("P") { GATTService(0x1808) { controlPoint } }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost, AttributeHandle).self)
        let backend = ScriptedBackend { publication, host in
            let handle = publication.table.valueHandle(service: 0, characteristic: 0)
            for central in [central, other] { host.handle(.connected(central)) }
            for subscriber in subscribers {
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: subscriber)))
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            give.yield((host, handle))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { _ in
            for await (host, handle) in hosts { return try await body(host, handle) }
        }
    }

    private func write(_ value: UInt8, to handle: AttributeHandle, of host: any PeripheralHost) async
        -> BackendAnswer.Outcome
    {
        let request = BackendWriteRequest(attribute: handle, value: [value], central: central)
        switch host.write(request) {
        case .immediate(let outcome): return outcome
        case .deferred(let start):
            return
                await withCheckedContinuation { waiting in start { waiting.resume(returning: $0) } }
        }
    }

    @Test func theResponseFollowsTheAnswer() async throws {
        try await run(subscribers: [central]) { host, handle in
            for request: UInt8 in 1...20 {
                let order = Log<String>()
                let value = BackendWriteRequest(attribute: handle, value: [request], central: central)
                guard case .deferred(let start) = host.write(value) else {
                    Issue.record("answered at once")
                    return
                }
                start { _ in order.append("answered, \(link.sent.count) sent") }
                let response = try #require(await link.next())
                #expect(order.entries == ["answered, \(request - 1) sent"])
                host.handle(.updateEnded(response.id, .completed))
            }
        }
    }

    /// The stack may have taken a record, and keep it back, while it sends the response at once.
    @Test func theResponseWaitsUntilTheRecordsHaveLeft() async throws {
        let record = Characteristic<UInt8>(0x2A18, .notify)
        let controlPoint = Characteristic<UInt8>(0x2A52, [.write, .indicate]) {
            ControlPoint(perform: { (request: UInt8, central, session) in
                try await session.notify(record, request, to: central)
                return request
            })
        }
        let peripheral = Peripheral("P") {
            GATTService(0x1808) {
                record
                controlPoint
            }
        }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost, AttributeHandle).self)
        let backend = ScriptedBackend { publication, host in
            host.handle(.connected(central))
            for characteristic in 0...1 {
                let handle = publication.table.valueHandle(service: 0, characteristic: characteristic)
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            give.yield((host, publication.table.valueHandle(service: 0, characteristic: 1)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            for await (host, handle) in hosts {
                for request: UInt8 in 1...3 {
                    #expect(await write(request, to: handle, of: host) == .success([]))
                    let sent = try #require(await link.next())
                    #expect(sent.characteristic != handle)
                    let count = link.sent.count
                    host.handle(.updateTaken(sent.id))
                    try await until { session.runtime.updates.waiting == 1 || link.sent.count > count }
                    #expect(link.sent.count == count)
                    host.handle(.updateEnded(sent.id, .completed))
                    let response = try #require(await link.next())
                    #expect(response.characteristic == handle)
                    host.handle(.updateEnded(response.id, .completed))
                }
                return
            }
        }
    }

    /// The central has its answer, and leaves before anything else happens.
    @Test func aRequestWithoutResponseIsCarriedOutAlsoWhenItsCentralHasLeft() async throws {
        let cancelled = Log<Bool>()
        let controlPoint = Characteristic<UInt8>(0x2AA4, .write) {
            ControlPoint(performWithoutResponse: { (_: UInt8, _, _) in cancelled.append(Task.isCancelled) })
        }
        let peripheral = Peripheral("P") { GATTService(0x181E) { controlPoint } }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost, AttributeHandle).self)
        let backend = ScriptedBackend { publication, host in
            host.handle(.connected(central))
            host.handle(.published(PublishedPeripheral(link: link)))
            give.yield((host, publication.table.valueHandle(service: 0, characteristic: 0)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { _ in
            for await (host, handle) in hosts {
                let request = BackendWriteRequest(attribute: handle, value: [1], central: central)
                guard case .deferred(let start) = host.write(request) else {
                    Issue.record("answered at once")
                    return
                }
                start { _ in host.handle(.disconnected(central.id)) }
                return await cancelled.untilNotEmpty()
            }
        }
        #expect(cancelled.entries == [true])
    }

    @Test func theNextRequestWaitsForTheConfirmation() async throws {
        try await run(subscribers: [central]) { host, handle in
            #expect(await write(1, to: handle, of: host) == .success([]))
            let response = try #require(await link.next())
            async let next = write(2, to: handle, of: host)
            await clock.waitForPatience()
            host.handle(.updateEnded(response.id, .completed))
            #expect(await next == .success([]))
            let second = try #require(await link.next())
            #expect(second.value == [2])
        }
    }

    @Test func theNextRequestDoesNotWaitForLong() async throws {
        try await run(subscribers: [central]) { host, handle in
            #expect(await write(1, to: handle, of: host) == .success([]))
            let response = try #require(await link.next())
            async let next = write(2, to: handle, of: host)
            await clock.waitForPatience()
            clock.advance(by: .seconds(1))
            #expect(await next == .failure(.procedureAlreadyInProgress))
            #expect(link.sent.map(\.value) == [[1]])
            host.handle(.updateEnded(response.id, .completed))
        }
    }

    @Test func whoCannotBeReachedAloneGetsItWithAll() async throws {
        try await run(subscribers: [central]) { host, handle in
            #expect(await write(1, to: handle, of: host) == .success([]))
            let attempt = try #require(await link.next())
            #expect(attempt.recipients == .central(central.id))
            let unreachable = PeripheralError(code: .notAddressable, message: "all or nobody")
            host.handle(.updateEnded(attempt.id, .failed(unreachable)))
            let response = try #require(await link.next())
            #expect(response.recipients == .subscribers)
            #expect(response.value == [1])
        }
    }

    @Test func whoHasSubscribedMayBeUnknown() async throws {
        try await run(subscribers: [nil]) { host, handle in
            #expect(await write(1, to: handle, of: host) == .success([]))
            let response = try #require(await link.next())
            #expect(response.recipients == .subscribers)
            #expect(response.value == [1])
        }
    }

    @Test func theSubscriptionOfAnotherDoesNotCount() async throws {
        try await run(subscribers: [other]) { host, handle in
            let outcome = await write(1, to: handle, of: host)
            #expect(outcome == .failure(.clientCharacteristicConfigurationImproperlyConfigured))
        }
    }
}

/// A clock that reports when a task sleeps for a second.
///
/// A request sleeps for a second while it waits for a confirmation.
private final class PatienceClock: Clock {
    private let clock = ManualClock()
    private let sleeps = Log<Void>()

    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        if now.duration(to: deadline) == .seconds(1) { sleeps.append(()) }
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }

    func waitForPatience() async {
        await sleeps.untilNotEmpty()
    }

    func advance(by duration: Duration) {
        clock.advance(by: duration)
    }
}
