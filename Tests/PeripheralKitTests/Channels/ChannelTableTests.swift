import PeripheralCore
import Testing

@testable import PeripheralKit

struct ChannelTableTests {
    private static func central(_ number: UInt8) -> Central.ID {
        Central.ID(address: .numbered(number))
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

    @Test func channelCountsUntilItIsClosed() throws {
        var table = ChannelTable(limits: limits)
        let number = try table.admit(Self.central(1), through: 1).get()
        table.returned(number)
        #expect(table.admit(Self.central(1), through: 1) == .failure(.listenerHasTooMany))
        table.remove(number)
        _ = try table.admit(Self.central(1), through: 1).get()
        // A channel that is closed twice frees no other place.
        table.remove(number)
        #expect(table.admit(Self.central(2), through: 1) == .failure(.listenerHasTooMany))
    }

    @Test func endedTableRefusesAll() throws {
        var table = ChannelTable(limits: limits)
        table.end()
        #expect(table.admit(Self.central(1), through: 0) == .failure(.ended))
    }
}
