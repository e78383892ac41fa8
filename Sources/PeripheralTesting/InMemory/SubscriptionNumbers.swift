internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The numbers of the subscriptions to one peripheral.
final class SubscriptionNumbers: Sendable {
    private struct Subscription: Hashable {
        var central: Central.ID
        var characteristic: AttributeHandle
    }

    private struct State {
        var numbers: [Subscription: UInt64] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Gives the next number to a subscription, which replaces the number of an earlier one.
    func begin(of central: Central.ID, for characteristic: AttributeHandle) {
        state.withLock { state in
            state.last += 1
            state.numbers[Subscription(central: central, characteristic: characteristic)] = state.last
        }
    }

    func number(of central: Central.ID, for characteristic: AttributeHandle) -> UInt64 {
        state.withLock { $0.numbers[Subscription(central: central, characteristic: characteristic)] ?? 0 }
    }

    /// Forgets the subscriptions to the characteristics of a removed service.
    func remove(_ characteristics: ClosedRange<AttributeHandle>) {
        state.withLock { state in
            state.numbers = state.numbers.filter { !characteristics.contains($0.key.characteristic) }
        }
    }
}
