import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Transfers as a program and a central see them; the conformance scenarios test more.
@Suite(.timeLimit(.minutes(1)))
struct TransferTests {
    private let value = Characteristic<[UInt8]>(0x2A3D, .notify)
    private let confirmed = Characteristic<[UInt8]>(0x2A3E, .indicate)
    private let short = Characteristic<[UInt8]>(0x2A3F, .notify, length: .upTo(2))
    private let upload = Characteristic<[UInt8]>(0x2A40, .write) { WriteStream() }
    private let marker = Array("EOM".utf8)

    private var peripheral: Peripheral {
        Peripheral("Transfers") {
            GATTService(0x180F) {
                value; confirmed; short; upload
            }
        }
    }

    /// The recipe of the article Backpressure.
    private struct LogService: GATTServiceDeclaration {
        let request = Characteristic<UInt8>(0x2A41, .write)
        let log = Characteristic<[UInt8]>(0x2A3D, .notify)
        let text: @Sendable () async -> String

        var service: GATTService {
            GATTService(0x181A) {
                request { WriteStream() }
                log
            }
        }

        func run(in session: PeripheralSession) async throws {
            for await write in try session.writes(to: request) {
                try? await session.send(Array(await text().utf8), over: log, to: write.central)
            }
        }
    }

    @Test func aCentralAsksForADocument() async throws {
        let service = LogService { "It rains." }
        try await Peripheral("Log") { service }.test { central in
            // Without a subscription, the request has no effect.
            try await central.write(service.request, 1)
            try await central.subscribe(to: service.log)
            try await central.write(service.request, 1)
            #expect(try await central.nextUpdate(of: service.log) == Array("It rains.".utf8))
            #expect(try await central.nextUpdate(of: service.log) == marker)
        }
    }

    private static let impossible: [(ChunkSize, EndMarker)] = [
        (0, [1, 2]), (20, []), (20, [1]), (20, EndMarker(Array(repeating: 0, count: 21))),
    ]

    @Test(arguments: impossible)
    func whatIsNotPossibleIsRefused(size: ChunkSize, marker: EndMarker) async throws {
        try await peripheral.test { _, session in
            let error = await #expect(throws: PeripheralError.self) {
                try await session.send([1], over: value, chunkSize: size, endMarker: marker)
            }
            #expect(error?.code == .invalidValue)
        }
    }

    @Test func chunksAreAsShortAsTheDeclarationDemands() async throws {
        try await peripheral.test { central, session in
            let error = await #expect(throws: PeripheralError.self) {
                try await session.send([1], over: short)
            }
            #expect(error?.code == .invalidValue)
            try await central.subscribe(to: short)
            try await session.send([1, 2, 3], over: short, endMarker: nil)
            #expect(try await central.nextUpdate(of: short) == [1, 2])
            #expect(try await central.nextUpdate(of: short) == [3])
        }
    }

    @Test func whoHasNotSubscribedGetsNothing() async throws {
        try await peripheral.test { central, session in
            _ = try await central.discover()
            let known = try #require(session.centrals.first)
            for kind in [UpdateKind.notification, .indication] {
                let error = await #expect(throws: PeripheralError.self) {
                    try await session.send(
                        [1],
                        over: kind == .indication ? confirmed : value,
                        to: known,
                        by: kind
                    )
                }
                #expect(error?.code == .notSubscribed)
            }
            try await session.send([1], over: value)
        }
    }

    @Test func aTransferThatIsCancelledEnds() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: value)
            let offer = Task { try await session.offer([1, 2, 3], over: value) }
            #expect(try await central.nextUpdate(of: value) == [1, 2, 3])
            #expect(try await central.nextUpdate(of: value) == marker)
            offer.cancel()
            await #expect(throws: CancellationError.self) { try await offer.value }
            try await central.unsubscribe(from: value)
            try await central.subscribe(to: value)
            try await session.notify(value, [9])
            #expect(try await central.nextUpdate(of: value) == [9])
        }
    }

    @Test func anOfferEndsWithTheSession() async throws {
        let offer = try await peripheral.test { central, session in
            try await central.subscribe(to: value)
            let offer = Task { try await session.offer([1], over: value) }
            #expect(try await central.nextUpdate(of: value) == [1])
            return offer
        }
        let error = await #expect(throws: PeripheralError.self) { try await offer.value }
        #expect(error?.code == .stopped)
    }

    @Test func confirmedChunksTellTheirProgress() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: confirmed)
            let known = try #require(session.centrals.first)
            var progress: [Int] = []
            try await session.send(
                Array(0..<50),
                over: confirmed,
                to: known,
                by: .indication
            ) { progress.append($0.sent) }
            // The newest, when there is more.
            #expect(progress.last == 50 && Set(progress).isSubset(of: [0, 20, 40, 50]))
            #expect(progress == progress.sorted())
            for expected in [Array(0..<20), Array(20..<40), Array(40..<50), marker] {
                #expect(try await central.nextUpdate(of: confirmed) == expected)
            }
        }
    }

    @Test func aDocumentThatLacksWritesIsNotComplete() async throws {
        let commands = Characteristic<[UInt8]>(0x2A41, [.write, .writeWithoutResponse]) {
            WriteStream(capacity: 2)
        }
        let peripheral = Peripheral("Commands") { GATTService(0x180F) { commands } }
        try await peripheral.test { central, session in
            var documents = try session.documents(writtenTo: commands).makeAsyncIterator()
            for chunk: [UInt8] in [[1], marker] { try await central.write(commands, chunk) }
            // Behind the two in the buffer, there is room for 256: the last of these is refused.
            for _ in 0..<257 { try await central.writeWithoutResponse(commands, [2]) }
            #expect(await documents.next()?.isComplete == true)
            let marking = Task {
                try await until { (try? await central.write(commands, marker)) != nil }
            }
            let lacking = await documents.next()
            #expect(lacking?.bytes.count == 256)
            #expect(lacking?.isComplete == false)
            try await marking.value
            for chunk: [UInt8] in [[3], marker] { try await central.write(commands, chunk) }
            #expect(await documents.next()?.isComplete == true)
        }
    }

    @Test func aDocumentThatLacksWhatIsTooLongIsNotComplete() async throws {
        let commands = Characteristic<[UInt8]>(0x2A41, .writeWithoutResponse, length: .upTo(3)) {
            WriteStream()
        }
        try await expectRefusal(ofTheSecondOf: [[1], [2, 2, 2, 2], [3]], writtenTo: commands)
    }

    @Test func aDocumentThatLacksWhatMayNotBeWrittenIsNotComplete() async throws {
        let asked = Log<Bool>()
        let commands = Characteristic<[UInt8]>(0x2A41, .writeWithoutResponse) {
            Authorization { _ in
                asked.append(true)
                return asked.entries.count != 2
            }
            WriteStream()
        }
        try await expectRefusal(ofTheSecondOf: [[1], [2], [3]], writtenTo: commands)
    }

    private func expectRefusal(
        ofTheSecondOf chunks: [[UInt8]],
        writtenTo commands: Characteristic<[UInt8]>
    ) async throws {
        let peripheral = Peripheral("Commands") { GATTService(0x180F) { commands } }
        try await peripheral.test { central, session in
            var documents = try session.documents(writtenTo: commands).makeAsyncIterator()
            for chunk in chunks + [marker, [4], marker] {
                try await central.writeWithoutResponse(commands, chunk)
            }
            let lacking = try #require(await documents.next())
            #expect(lacking.bytes == [1, 3] && !lacking.isComplete)
            #expect(await documents.next()?.isComplete == true)
        }
    }

    @Test func whatCentralsWriteIsPutTogether() async throws {
        try await peripheral.test { first, session in
            let second = first.makeAnother()
            try await second.connect()
            var documents = try session.documents(writtenTo: upload).makeAsyncIterator()
            for chunk: [UInt8] in [[1], [2]] {
                try await first.write(upload, chunk)
                try await second.write(upload, chunk.map { $0 + 10 })
            }
            try await second.write(upload, marker)
            try await first.write(upload, marker)
            #expect(await documents.next()?.bytes == [11, 12])
            #expect(await documents.next()?.bytes == [1, 2])
            try await first.write(upload, [3])
            first.disconnect()
            try await first.connect()
            try await first.write(upload, [4])
            try await first.write(upload, marker)
            #expect(await documents.next()?.bytes == [4])
        }
    }
}

/// Subscriptions that change while the sender is handing on chunks.
@Suite(.timeLimit(.minutes(1)))
struct TransferRestartTests {
    private static let bulk: AttributeHandle = 3
    private let central = Central(address: .numbered(1))
    private let whole: [UInt8] = Array(0..<100)
    private let sender = UpdateSender(policies: [:], clock: ContinuousClock())

    private func transfer(to recipients: UpdateRecipients) async throws {
        let document = Document(bytes: whole, chunkSize: 10, endMarker: [0xFF, 0xFF])
        try await sender.transfer(document, over: Self.bulk, to: recipients, isStanding: false) { _ in }
    }

    /// A central subscribes again while a chunk for it has not been handed on: the document begins again.
    @Test(arguments: [false, true])
    func aDocumentBeginsAnewAlsoWhenAChunkHasNotBeenHandedOn(isForAll: Bool) async throws {
        let subscription = BackendSubscription(characteristic: Self.bulk, central: central)
        let link = HoldingLink { [sender] update, number in
            // As a backend's thread may, while this one is still handing on.
            sender.ended([(update.id, .completed)])
            if number == 2 { sender.subscribed(subscription) }
        }
        sender.begin(PublishedPeripheral(link: link, window: 2))
        sender.subscribed(subscription)
        try await transfer(to: isForAll ? .subscribers : .central(central.id))
        let sent = link.underWay.map(\.value)
        #expect(sent.count >= 11)
        #expect(Array(sent.dropLast().suffix(10).joined()) == whole)
    }

    /// A central subscribes again while several chunks are being handed on: those after that are of the
    /// earlier subscription.
    @Test(arguments: [true, false])
    func whatIsBeingHandedOnIsForNoLaterSubscription(isAddressable: Bool) async throws {
        let subscription = Mutex(
            BackendSubscription(characteristic: Self.bulk, central: central, isAddressable: isAddressable)
        )
        /// What has come to the newest subscription.
        let received = Mutex<[[UInt8]]>([])
        let link = HoldingLink { [sender] update, number in
            guard subscription.withLock(\.number) <= update.lastSubscription else {
                return sender.ended([(update.id, .failed(.notSubscribed))])
            }
            received.withLock { $0.append(update.value) }
            if number == 2 {
                received.withLock { $0 = [] }
                let anew = subscription.withLock { subscription in
                    subscription.number += 1
                    return subscription
                }
                sender.subscribed(anew)
            }
            sender.ended([(update.id, .completed)])
        }
        sender.begin(PublishedPeripheral(link: link, window: 4))
        sender.subscribed(subscription.withLock(\.self))
        try await transfer(to: .subscribers)
        let values = received.withLock(\.self)
        #expect(values.dropLast().flatMap(\.self) == whole, "\(values)")
    }
}
