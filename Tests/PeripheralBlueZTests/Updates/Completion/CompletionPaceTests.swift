import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Links of which nothing is known but what their centrals ask for and confirm.
@Suite(.timeLimit(.minutes(1)))
struct CompletionPaceTests {
    private static let start = ContinuousClock.now
    private static let window = 16

    private var pace = CompletionPace(interval: .milliseconds(25))
    private var time = 0
    private var next: UInt64 = 0
    /// Those that do not count as having left.
    private var open = 0
    private let one: Central.ID
    private let two: Central.ID

    init() throws {
        one = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        two = Central.ID(address: try #require(DeviceAddress(rawValue: 2)))
    }

    private var now: ContinuousClock.Instant { Self.start + .milliseconds(time) }

    /// Gives as much as may be.
    ///
    /// - Returns: How many.
    private mutating func give(atMost most: Int = .max, to central: Central.ID? = nil) -> Int {
        var count = 0
        while open < Self.window, count < most {
            let update = CompletionPace.Delivery(
                update: BackendUpdate.ID(next),
                attribute: 3,
                central: central ?? one
            )
            if !pace.given(update, at: now) { open += 1 }
            (next, count) = (next + 1, count + 1)
        }
        return count
    }

    private mutating func wait(_ milliseconds: Int) {
        time += milliseconds
        open -= pace.completed(at: now).count
    }

    private mutating func ask(
        _ kind: CompletionPace.Request.Kind = .read,
        _ attribute: AttributeHandle = 7,
        isFirst: Bool = true,
        unread: Int = 0
    ) {
        let request = CompletionPace.Request(kind: kind, attribute: attribute, isFirst: isFirst)
        pace.asked(request, by: one, unread: unread, at: now)
        open -= pace.completed(at: now).count
    }

    @Test mutating func manyGoAtOnceAndThenOneByOne() {
        #expect(give() == 128)
        #expect(open == 16)
        wait(24)
        #expect(give() == 0)
        #expect(pace.nextCompletion == now + .milliseconds(1))
        wait(1)
        #expect(give() == 1)
        wait(250)
        #expect(give() == 10)
        wait(60_000)
        #expect(open == 0 && pace.nextCompletion == nil)
        #expect(give() == 128)
    }

    @Test mutating func whatGoesSlowerThanThatIsNeverHeldUp() {
        for _ in 0..<1_000 {
            #expect(give(atMost: 1) == 1)
            #expect(open == 0)
            wait(25)
        }
    }

    @Test mutating func eachCentralHasItsOwn() {
        #expect(give() == 128)
        open = 0
        #expect(give(to: two) == 128)
        pace.settled(one)
        #expect(pace.completed(at: now + .seconds(60)).map(\.central) == Array(repeating: two, count: 16))
    }

    @Test mutating func oneThatWasNotGivenAfterAllIsNotWaitedFor() {
        #expect(give() == 128)
        for number in 112..<128 { pace.withdraw(BackendUpdate.ID(UInt64(number))) }
        #expect(pace.nextCompletion == nil)
    }

    @Test mutating func aConfirmationShowsThatWhatWasGivenBeforeHasArrived() {
        #expect(give(atMost: 100) == 100)
        wait(15)
        pace.indicated(BackendUpdate.ID(9_000), to: one, unread: 0, at: now)
        #expect(give() == 28)
        pace.confirmed(BackendUpdate.ID(9_000), at: now)
        open -= pace.completed(at: now).count
        #expect(give() == 100)
    }

    /// The first may have overtaken what bluetoothd had not read, or held back to send several at once.
    @Test(arguments: [(0, 0), (16, 100), (15, 40)])
    mutating func whatMayComeBehindAResponseHasNotArrivedWithIt(wait milliseconds: Int, unread: Int) {
        #expect(give(atMost: 100) == 100)
        time += milliseconds
        ask(unread: unread)
        #expect(give() == 28)
        ask()
        #expect(give() == (milliseconds == 0 ? 0 : 100 - unread))
    }

    private static let pairs: [(CompletionPace.Request, CompletionPace.Request, Bool)] = [
        (read(7), read(7), true),
        (read(7), read(7, isFirst: false), true),
        (read(7), read(8), false),
        (read(7), write(8), true),
        (write(7), write(7), true),
        (write(7), write(7, isFirst: false), false),
        (write(7), write(8), false),
        (write(8), read(8), true),
    ]

    private static func read(_ attribute: AttributeHandle, isFirst: Bool = true) -> CompletionPace.Request {
        CompletionPace.Request(kind: .read, attribute: attribute, isFirst: isFirst)
    }

    private static func write(_ attribute: AttributeHandle, isFirst: Bool = true) -> CompletionPace.Request {
        CompletionPace.Request(kind: .write, attribute: attribute, isFirst: isFirst)
    }

    /// A request can show that the earlier request was answered.
    ///
    /// Parts of one request do not show this.
    @Test(arguments: pairs)
    mutating func aRequestShowsThatTheOneBeforeWasAnswered(
        first: CompletionPace.Request,
        second: CompletionPace.Request,
        isShown: Bool
    ) {
        #expect(give() == 128)
        time += 20
        for request in [first, second] { pace.asked(request, by: one, unread: 0, at: now) }
        open -= pace.completed(at: now).count
        #expect(give() == (isShown ? 128 : 0))
    }

    @Test mutating func requestsForSeveralInTurnShowItLater() {
        #expect(give() == 128)
        time += 20
        for attribute in [7, 8, 9] as [AttributeHandle] {
            ask(.read, attribute)
            #expect(give() == 0)
        }
        ask(.read, 7)
        #expect(give() == 128)
    }

    /// bluetoothd and a link that carries at least so many as is assumed, with silences; a central that asks
    /// and confirms now and then.
    @Test(arguments: 0..<30 as Range<UInt64>)
    mutating func noMoreIsUnderWayThanPromised(seed: UInt64) {
        enum Packet: Equatable {
            case value
            case response(CompletionPace.Request)
            case indication(BackendUpdate.ID)
        }
        var random = SeededGenerator(seed: seed)
        let period = Int.random(in: 1...25, using: &random)
        let eagerness = [0, 20, 500][Int(seed % 3)]
        // What bluetoothd has not read yet, what it holds back, and what is on the link.
        var (socket, queue): ([(Packet, readAt: Int)], [Packet]) = ([], [])
        var (stalledUntil, underWay, most, arrived) = (0, 0, 0, 0)
        var isAsking = false
        var possible = 0
        for _ in 0..<6_000 {
            let given = give()
            for _ in 0..<given { socket.append((.value, time + Int.random(in: 0...4, using: &random))) }
            underWay += given
            most = max(most, underWay)
            wait(1)
            let unread = socket.count
            if eagerness > 0, !isAsking, Int.random(in: 0..<eagerness, using: &random) == 0 {
                // A response is not behind what bluetoothd has not read.
                isAsking = true
                let request = CompletionPace.Request(
                    kind: Bool.random(using: &random) ? .read : .write,
                    attribute: AttributeHandle(rawValue: .random(in: 1...3, using: &random))
                )
                pace.asked(request, by: one, unread: unread, at: now)
                queue.append(.response(request))
            }
            if eagerness > 0, Int.random(in: 0..<eagerness * 4, using: &random) == 0 {
                pace.indicated(BackendUpdate.ID(1 << 40 + next), to: one, unread: unread, at: now)
                queue.append(.indication(BackendUpdate.ID(1 << 40 + next)))
                next += 1
            }
            while let first = socket.first, first.readAt <= time { queue.append(socket.removeFirst().0) }
            // Not before what the last one has left is sent.
            if underWay <= 128, time >= stalledUntil, Int.random(in: 0..<1_000, using: &random) == 0 {
                stalledUntil = time + Int.random(in: 1...3_000, using: &random)
            }
            guard time >= stalledUntil else { continue }
            possible += 1
            guard time % period == 0, !queue.isEmpty else { continue }
            switch queue.removeFirst() {
            case .value: (arrived, underWay) = (arrived + 1, underWay - 1)
            case .response: isAsking = false
            case .indication(let update): pace.confirmed(update, at: now)
            }
            open -= pace.completed(at: now).count
        }
        #expect(most <= 256, "seed \(seed)")
        // Who asks often is sent as much as the link carries.
        if eagerness == 20 { #expect(arrived * period * 10 >= possible * 7, "seed \(seed)") }
        wait(60_000)
        #expect(open == 0, "seed \(seed)")
    }
}
