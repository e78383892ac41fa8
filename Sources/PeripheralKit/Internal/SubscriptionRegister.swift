internal import PeripheralCore

/// Which characteristics have subscribers, as far as the backend can tell.
struct SubscriptionRegister {
    private struct Subscribers {
        var known: Set<Central> = []
        var unidentified = false

        var isEmpty: Bool { known.isEmpty && !unidentified }
    }

    private var subscribers: [AttributeHandle: Subscribers] = [:]

    /// A central has subscribed; `nil` is one that the backend cannot name.
    mutating func begin(_ characteristic: AttributeHandle, by central: Central?) {
        if let central {
            subscribers[characteristic, default: Subscribers()].known.insert(central)
        } else {
            subscribers[characteristic, default: Subscribers()].unidentified = true
        }
    }

    /// A central has left; `nil` tells that the last one has.
    mutating func end(_ characteristic: AttributeHandle, by central: Central?) {
        guard let central else {
            subscribers[characteristic] = nil
            return
        }
        subscribers[characteristic]?.known.remove(central)
        if subscribers[characteristic]?.isEmpty == true {
            subscribers[characteristic] = nil
        }
    }

    func hasSubscribers(_ characteristic: AttributeHandle) -> Bool {
        subscribers[characteristic] != nil
    }
}
