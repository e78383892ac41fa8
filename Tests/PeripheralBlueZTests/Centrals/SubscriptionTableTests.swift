import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct SubscriptionTableTests {
    private static let level: AttributeHandle = 3
    private static let other: AttributeHandle = 9

    /// `a`, `b`, `c`, …: capitals are bonded.
    private func central(_ name: Character) -> Central {
        let number = UInt64(name.lowercased().first?.asciiValue ?? 0)
        guard let address = DeviceAddress(rawValue: number) else {
            preconditionFailure("48 bits are an address")
        }
        return Central(address: address, isBonded: name.isUppercase)
    }

    private func socket(_ name: Character, _ characteristic: AttributeHandle = level)
        -> SubscriptionTable.Socket
    {
        SubscriptionTable.Socket(characteristic: characteristic, central: central(name).id)
    }

    private func table(_ names: String, by route: SubscriptionTable.Route = .socket) -> SubscriptionTable {
        var table = SubscriptionTable()
        for name in names { table.subscribed(central(name), to: Self.level, by: route) }
        return table
    }

    /// Those with a socket, and behind a bar those without.
    private func names(_ table: SubscriptionTable, _ characteristic: AttributeHandle = level) -> String {
        let subscribers = table.subscribers(of: characteristic)
        func names(_ route: SubscriptionTable.Route) -> String {
            String(
                subscribers.filter { $0.route == route }
                    .map { Character(Unicode.Scalar(UInt8($0.central.address.rawValue))) }
            )
        }
        return names(.socket) + "|" + names(.bus)
    }

    /// bluetoothd counts those that it does not name, and who is away, too.
    @Test func theOnlySubscriberIsTheOneThatBluetoothdCounts() {
        var table = table("A", by: .bus)
        #expect(table.isOnlySubscriber(central("A").id, of: Self.level))
        #expect(!table.isOnlySubscriber(central("b").id, of: Self.level))
        #expect(!table.isOnlySubscriber(central("A").id, of: Self.other))
        table.subscribed(central("b"), to: Self.level, by: .bus)
        #expect(!table.isOnlySubscriber(central("A").id, of: Self.level))
        _ = table.disconnected(central("A"))
        #expect(!table.isOnlySubscriber(central("b").id, of: Self.level))
        _ = table.returned(central("A"))
        _ = table.disconnected(central("b"))
        #expect(table.isOnlySubscriber(central("A").id, of: Self.level))
        table.subscribedByStranger(Self.level)
        #expect(!table.isOnlySubscriber(central("A").id, of: Self.level))
    }

    /// `c` is not found any more, and subscribes again: with its leaving, bluetoothd drops the earlier
    /// subscription, and closes the first socket by mistake.
    @Test func aLostSubscriptionEndsAndIsDroppedWithTheConnection() {
        var table = table("aC")
        let ended = table.identified(central("C"))
        #expect(ended.characteristics == [Self.level] && !ended.areFound)
        #expect(names(table) == "a|")
        #expect(!table.isOnlySubscriber(central("a").id, of: Self.level))
        table.subscribed(central("C"), to: Self.level, by: .socket)
        #expect(names(table) == "ac|")
        #expect(table.disconnected(central("C")) == [socket("a")])
        table.forgetDanger(to: socket("a"))
        #expect(names(table) == "a|")
        #expect(table.returned(central("C")) == [Self.level])
        #expect(names(table) == "a|c")
        #expect(table.disconnected(central("C")) == [])
    }

    /// `C` has a public address, and stays subscribed, by the bus, until it leaves.
    ///
    /// bluetoothd drops what it keeps of that with the next value for all, and closes the first socket by
    /// mistake.
    @Test func aMovedSubscriptionDoesNotResume() {
        var table = table("aC")
        let lasting = Central(
            address: central("C").address,
            addressKind: .public,
            isBonded: true,
            id: central("C").id
        )
        #expect(table.identified(lasting).areFound)
        #expect(names(table) == "a|c")
        #expect(table.disconnected(lasting) == [])
        #expect(table.returned(lasting) == [])
        #expect(names(table) == "a|")
        table.subscribed(lasting, to: Self.level, by: .bus)
        #expect(!table.isOnlySubscriber(lasting.id, of: Self.level))
        #expect(table.announced(Self.level) == [socket("a")])
        #expect(table.announced(Self.level) == [])
        // The new subscription is under the lasting address.
        _ = table.disconnected(lasting)
        #expect(table.returned(lasting) == [Self.level])
    }

    @Test func aClosedSocketIsTheEndOfASubscription() {
        var table = table("abc")
        let asks = table.closed(socket("b"))
        #expect(asks)
        #expect(names(table) == "ac|b")
        let isOver = table.explain(socket("b"))
        #expect(isOver)
        #expect(names(table) == "ac|")
    }

    /// As seen on bluetoothd 5.82 and 5.87: `c` leaves, and the socket of `a` is closed with its own.
    @Test(arguments: ["ac-", "ca-", "a-c", "c-a", "-ac", "-ca"])
    func theFirstSocketFallsToTheMistakeOfBluetoothd(order: String) {
        var table = table("abcd")
        for event in order {
            if event == "-" {
                _ = table.disconnected(central("c"))
            } else {
                _ = table.closed(socket(event))
            }
        }
        #expect(names(table) == "bd|a")
        let isOver = table.explain(socket("a"))
        #expect(!isOver)
        #expect(names(table) == "bd|a")
    }

    /// `a` has unsubscribed just before, so that it is the socket of `c` that is closed by mistake when `b`
    /// leaves.
    @Test func whoMayHaveLostItsSocketByMistakeStaysSubscribed() {
        var table = table("abc")
        _ = table.closed(socket("a"))
        _ = table.disconnected(central("b"))
        let asks = table.closed(socket("c"))
        #expect(!asks)
        let isOver = table.explain(socket("a"))
        #expect(!isOver)
        #expect(names(table) == "|ac")
    }

    @Test func afterTheMomentOfALeavingTheEndOfASocketIsThatOfASubscription() {
        var table = table("abc")
        _ = table.closed(socket("a"))
        _ = table.disconnected(central("b"))
        table.hasLeft(central("b").id)
        let asks = table.closed(socket("c"))
        #expect(asks)
        let isOver = table.explain(socket("c"))
        #expect(isOver)
    }

    @Test(arguments: ["a-", "-a"])
    func whoLeavesWithTheFirstSocketHarmsNobody(order: String) {
        var table = table("abc")
        for event in order {
            if event == "-" {
                let endangered = table.disconnected(central("a"))
                #expect(endangered == [])
            } else {
                _ = table.closed(socket(event))
            }
        }
        #expect(names(table) == "bc|")
        let asks = table.closed(socket("b"))
        #expect(asks)
    }

    @Test func whoIsBondedHarmsNobodyAndResumes() {
        var table = table("abC")
        let endangered = table.disconnected(central("C"))
        #expect(endangered == [])
        #expect(names(table) == "ab|")
        let resumed = table.returned(central("C"))
        #expect(resumed == [Self.level])
        #expect(names(table) == "ab|c")
        #expect(table.returned(central("C")) == [])
    }

    @Test func whoHasNoSocketStillClosesTheFirst() {
        var table = table("ab")
        table.subscribed(central("c"), to: Self.level, by: .bus)
        let endangered = table.disconnected(central("c"))
        #expect(endangered == [socket("a")])
        _ = table.closed(socket("a"))
        #expect(names(table) == "b|a")
    }

    /// bluetoothd may have closed it already.
    @Test func nothingGoesByASocketInDanger() {
        var table = table("abc")
        _ = table.disconnected(central("c"))
        #expect(names(table) == "b|a")
        let asks = table.closed(socket("a"))
        #expect(!asks)
        table.forgetDanger(to: socket("a"))
        #expect(names(table) == "b|a")
    }

    @Test func endangeredSubscriberIsNotTakenForTheFirstAgain() {
        var table = table("abcd")
        let first = table.disconnected(central("d"))
        let second = table.disconnected(central("c"))
        #expect(first == [socket("a")])
        #expect(second == [socket("b")])
    }

    @Test func dangerPasses() {
        var table = table("abc")
        for socket in table.disconnected(central("c")) { table.forgetDanger(to: socket) }
        #expect(names(table) == "ab|")
        let asks = table.closed(socket("a"))
        #expect(asks)
        let isOver = table.explain(socket("a"))
        #expect(isOver)
        #expect(names(table) == "b|")
    }

    @Test func aSubscriptionAnewExplainsTheEndOfTheOldSocket() {
        var table = table("ab")
        _ = table.closed(socket("a"))
        table.subscribed(central("a"), to: Self.level, by: .socket)
        let isOver = table.explain(socket("a"))
        #expect(!isOver)
        #expect(names(table) == "ba|")
    }

    @Test func withoutSocketsTheLastEndIsToldOfAll() {
        var table = table("abC", by: .bus)
        _ = table.disconnected(central("a"))
        _ = table.disconnected(central("C"))
        #expect(names(table) == "|b")
        #expect(table.stopped(Self.level) == [central("b").id])
        #expect(names(table) == "|")
        #expect(table.returned(central("C")) == [])
    }

    @Test func theEndOfThoseWithoutASocketSparesTheOthers() {
        var table = table("ab")
        table.subscribed(central("c"), to: Self.level, by: .bus)
        #expect(table.stopped(Self.level) == [central("c").id])
        #expect(names(table) == "ab|")
    }

    @Test func whoIsForgottenWhileConnectedDoesNotResume() {
        var table = table("A")
        _ = table.disconnected(central("A"))
        table.forgotten(central("A").id)
        table.hasLeft(central("A").id)
        #expect(table.returned(central("A")) == [])
    }

    @Test func whoIsForgottenWhileAwayIsStillSubscribed() {
        var table = table("A")
        _ = table.disconnected(central("A"))
        table.hasLeft(central("A").id)
        table.forgotten(central("A").id)
        #expect(table.returned(central("A")) == [Self.level])
    }

    @Test func characteristicsAreApart() {
        var table = table("ab")
        table.subscribed(central("a"), to: Self.other, by: .socket)
        table.subscribed(central("b"), to: Self.other, by: .socket)
        _ = table.closed(socket("a"))
        #expect(names(table, Self.other) == "ab|")
        let endangered = table.disconnected(central("b"))
        #expect(endangered == [socket("a", Self.other)])
        #expect(names(table) == "|a")
        #expect(names(table, Self.other) == "|a")
    }

    @Test func aSocketThatNobodyHasClosesInVain() {
        var table = table("a")
        let ofAnother = table.closed(socket("z"))
        #expect(!ofAnother)
        _ = table.disconnected(central("a"))
        let ofOneWhoIsGone = table.closed(socket("a"))
        #expect(!ofOneWhoIsGone)
    }

    /// bluetoothd drops what it has kept of a central that is removed when it would send it a value.
    @Test func aValueForAllEndsTheSubscriptionOfWhoWasForgottenWhileAway() {
        var table = table("aBc")
        table.subscribed(central("B"), to: Self.other, by: .socket)
        table.subscribed(central("c"), to: Self.other, by: .socket)
        _ = table.disconnected(central("B"))
        table.hasLeft(central("B").id)
        // It is away, but known.
        #expect(table.announced(Self.level) == [])
        table.forgotten(central("B").id)
        let endangered = table.announced(Self.level)
        #expect(Set(endangered) == [socket("a"), socket("c", Self.other)])
        #expect(names(table) == "c|a")
        #expect(names(table, Self.other) == "|c")
        #expect(table.announced(Self.level) == [])
        #expect(table.returned(central("b")) == [])
        for socket in endangered {
            let asks = table.closed(socket)
            #expect(!asks)
        }
        #expect(names(table) == "c|a")
    }

    @Test func aValueOfAnotherCharacteristicEndsNothing() {
        var table = table("AB")
        for name: Character in ["A", "B"] {
            _ = table.disconnected(central(name))
            table.hasLeft(central(name).id)
            table.forgotten(central(name).id)
        }
        #expect(table.announced(Self.other) == [])
        #expect(table.returned(central("a")) == [Self.level])
        // It is no longer away when this is announced.
        #expect(table.announced(Self.level) == [])
        #expect(names(table) == "|a")
        #expect(table.returned(central("b")) == [])
    }
}

extension SubscriptionTable {
    /// A central is back, and bluetoothd reaches it.
    fileprivate mutating func returned(_ central: Central) -> [AttributeHandle] {
        let isExpected = connected(central)
        let resumed = resumed(central)
        #expect(isExpected == !resumed.isEmpty)
        return resumed
    }
}
