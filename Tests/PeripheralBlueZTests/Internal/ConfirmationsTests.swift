import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct ConfirmationsTests {
    private static let call = Confirmations.Source.call(3)
    private let gone = PeripheralError(code: .disconnected, message: "gone")

    private func socket(_ number: UInt64) throws -> Confirmations.Source {
        let address = try #require(DeviceAddress(rawValue: number))
        return .socket(SubscriptionTable.Socket(characteristic: 3, central: Central.ID(address: address)))
    }

    private func isDelivered(_ end: Confirmations.End?) -> Bool {
        if case .delivered = end?.outcome { true } else { false }
    }

    @Test func nothingIsAwaitedOfNobody() {
        var confirmations = Confirmations()
        let end = confirmations.sent(Update.ID(1), awaiting: [])
        #expect(end?.update == Update.ID(1))
        #expect(isDelivered(end))
    }

    @Test func allHaveToConfirm() throws {
        var confirmations = Confirmations()
        let none = confirmations.sent(Update.ID(1), awaiting: [try socket(1), try socket(2)])
        #expect(none == nil)
        #expect(confirmations.confirmed(try socket(2)) == nil)
        #expect(confirmations.confirmed(try socket(2)) == nil)
        let end = confirmations.confirmed(try socket(1))
        #expect(end?.update == Update.ID(1))
        #expect(isDelivered(end))
    }

    @Test func callsAreCounted() {
        var confirmations = Confirmations()
        _ = confirmations.sent(Update.ID(1), awaiting: [Self.call, Self.call])
        _ = confirmations.sent(Update.ID(2), awaiting: [Self.call])
        #expect(confirmations.confirmed(Self.call) == nil)
        #expect(confirmations.confirmed(Self.call)?.update == Update.ID(1))
        #expect(confirmations.confirmed(Self.call)?.update == Update.ID(2))
        #expect(confirmations.confirmed(Self.call) == nil)
    }

    @Test func whatIsLostFailsWhenTheOthersHaveConfirmed() throws {
        var confirmations = Confirmations()
        _ = confirmations.sent(Update.ID(1), awaiting: [try socket(1), try socket(2)])
        _ = confirmations.sent(Update.ID(2), awaiting: [try socket(1)])
        let ends = confirmations.lost(try socket(1), because: gone)
        #expect(ends.map(\.update) == [Update.ID(2)])
        let end = confirmations.confirmed(try socket(2))
        #expect(end?.update == Update.ID(1))
        guard case .failed(let error) = end?.outcome else {
            Issue.record("an indication that one has not confirmed counts as delivered")
            return
        }
        #expect(error.code == .disconnected)
    }

    @Test func whoIsGoneConfirmsNothing() throws {
        var confirmations = Confirmations()
        _ = confirmations.sent(Update.ID(1), awaiting: [try socket(1)])
        _ = confirmations.sent(Update.ID(2), awaiting: [try socket(2)])
        let central = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        #expect(confirmations.lost(from: central, because: gone).map(\.update) == [Update.ID(1)])
        #expect(confirmations.confirmed(try socket(2))?.update == Update.ID(2))
    }

    @Test func eachSocketConfirmsInItsOrder() throws {
        var confirmations = Confirmations()
        for number: UInt64 in 1...3 {
            _ = confirmations.sent(Update.ID(number), awaiting: [try socket(1)])
        }
        for number: UInt64 in 1...3 {
            #expect(confirmations.confirmed(try socket(1))?.update == Update.ID(number))
        }
    }
}
