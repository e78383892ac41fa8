import PeripheralCore
import Testing

@testable import PeripheralKit

struct ChannelTableTests {
    private static func central(_ number: UInt8) -> Central.ID {
        Central.ID(address: .numbered(number))
    }

    private static func channel() -> L2CAPChannel {
        L2CAPChannel(
            UnusedChannel(),
            of: Central(address: .numbered(1)),
            psm: 0x80,
            input: Wakeup(),
            output: Wakeup()
        )
    }

    private let limits = [
        ChannelLimits(channelsPerCentral: 2, channels: 3), ChannelLimits(channelsPerCentral: 1, channels: 1),
    ]

    @Test func channelsOfACentralAreLimited() throws {
        var table = ChannelTable(limits: limits)
        let first = try table.admit(Self.central(1), through: 0).get()
        let second = try table.admit(Self.central(1), through: 0).get()
        #expect(first != second)
        #expect(table.admit(Self.central(1), through: 0) == .failure(.centralHasTooMany))
        _ = try table.admit(Self.central(2), through: 0).get()
    }

    @Test func channelsOfAListenerAreLimited() throws {
        var table = ChannelTable(limits: limits)
        for number: UInt8 in 1...3 { _ = try table.admit(Self.central(number), through: 0).get() }
        #expect(table.admit(Self.central(4), through: 0) == .failure(.listenerHasTooMany))
        // Each listener has its own limits.
        _ = try table.admit(Self.central(1), through: 1).get()
    }

    @Test(arguments: [true, false])
    func channelCountsUntilItIsClosedAndItsHandlerHasReturned(closesFirst: Bool) throws {
        var table = ChannelTable(limits: limits)
        let number = try table.admit(Self.central(1), through: 1).get()
        if closesFirst { table.closed(number) } else { table.returned(number) }
        #expect(table.admit(Self.central(1), through: 1) == .failure(.listenerHasTooMany))
        if closesFirst { table.returned(number) } else { table.closed(number) }
        _ = try table.admit(Self.central(1), through: 1).get()
        // A channel that is closed twice frees no other place.
        table.closed(number)
        #expect(table.admit(Self.central(2), through: 1) == .failure(.listenerHasTooMany))
    }

    @Test func closedChannelKeepsTheTaskOfItsHandler() throws {
        var table = ChannelTable(limits: limits)
        let number = try table.admit(Self.central(1), through: 0).get()
        let continues = table.begin(number, Self.channel(), Task {})
        #expect(continues)
        table.closed(number)
        #expect(table.entries.count { $0.task != nil } == 1)
        table.returned(number)
        #expect(table.entries.isEmpty)
    }

    /// The end of the run closes it.
    @Test func channelStaysUntilItIsClosed() throws {
        var table = ChannelTable(limits: limits)
        let number = try table.admit(Self.central(1), through: 0).get()
        table.returned(number)
        let channel = Self.channel()
        let continues = table.begin(number, channel, Task {})
        #expect(continues)
        #expect(table.entries.map { $0.channel === channel } == [true])
        #expect(table.entries.count { $0.task != nil } == 0)
    }

    @Test func endedTableRefusesAll() throws {
        var table = ChannelTable(limits: limits)
        table.end()
        #expect(table.admit(Self.central(1), through: 0) == .failure(.ended))
    }
}

/// A channel that carries nothing.
private struct UnusedChannel: BackendChannel {
    let receiveMTU = 23
    let sendMTU = 23

    func begin(_ report: @escaping @Sendable (BackendChannelEvent) -> Void) {}
    func receive() -> BackendChannelInput { .empty }
    func send(_ packet: [UInt8]) -> BackendChannelOutput { .full }
    func close() {}
    func abort() {}
}
