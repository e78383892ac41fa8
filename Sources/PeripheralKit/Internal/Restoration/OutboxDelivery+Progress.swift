internal import PeripheralCore

extension OutboxDelivery {
    /// How an update is sent to a subscriber.
    enum Manner {
        case alone
        /// With all others who have subscribed, for whom the same value is kept or not.
        case together
    }

    /// To whom updates of what are sent, by whatever address the central is known meanwhile.
    struct Way: Hashable {
        let characteristic: AttributeHandle
        let central: Central.ID
    }

    /// A subscriber who is there.
    struct Receiver {
        let way: Way
        let key: Outbox.Key
        let kind: UpdateKind?

        /// - Returns: `nil` for those whom the stack does not name.
        init?(_ subscription: Subscription) {
            guard let central = subscription.central else { return nil }
            way = Way(characteristic: subscription.handle, central: central.id)
            key = Outbox.Key(characteristic: subscription.handle, address: central.address)
            kind = subscription.kind
        }

        /// How many updates may be on their way to it at a time.
        var placeCount: Int { kind == .indication ? 1 : 16 }
    }

    /// A value on its way.
    struct Departure {
        /// What it is for one of those for whom it is kept.
        struct Part {
            let receiver: Receiver
            let entry: Outbox.Entry
            /// Whether one more may be on its way to this one.
            let hasPlace: Bool
        }

        /// One, unless it goes to all together.
        let parts: [Part]
        let manner: Manner
    }

    /// The updates on their way to a subscriber, which count as sent when all before them have been.
    struct Progress {
        private struct Item {
            let number: UInt64
            let post: UInt64
            let manner: Manner
            var isSent: Bool?
            /// Whether the central was gone meanwhile, so that what has left did not reach it.
            var hasMissed = false
        }

        private var items: [Item] = []
        /// How the subscriber is to be sent updates; `nil` for as usual.
        private(set) var manner: Manner?
        /// Whether one was not sent: it and all after it are to be sent again.
        private(set) var hasFailed = false
        /// The manner by which what has failed may be sent all the same.
        private var alternative: Manner?

        var numbers: [UInt64] { items.map(\.number) }
        var underWay: Int { items.count { $0.isSent == nil } }
        /// Whether it has failed, and nothing is under way any more.
        private var isOver: Bool { hasFailed && underWay == 0 }

        /// Whether what has failed is to be sent again, but not at once.
        var isToBeTriedLater: Bool { isOver && next?.hasFailed == true }

        /// What it is from now on: nothing when nothing is under way, and as usual.
        var next: Progress? {
            if items.isEmpty, !hasFailed { return nil }
            guard isOver, manner == nil, let alternative else { return self }
            var next = Progress()
            next.manner = alternative
            return next
        }

        /// Whether a value of this post is under way to this subscriber alone.
        func isSendingAlone(_ post: UInt64) -> Bool {
            items.contains { $0.post == post && $0.manner == .alone && $0.isSent == nil }
        }

        mutating func begin(_ entry: Outbox.Entry, _ manner: Manner) {
            items.append(Item(number: entry.number, post: entry.post, manner: manner))
        }

        /// Takes note that what is under way to all has missed this subscriber.
        mutating func missed() {
            for index in items.indices where items[index].manner == .together {
                items[index].hasMissed = true
            }
        }

        /// Takes note of what has become of one.
        ///
        /// - Returns: Those that have been sent, with all before them.
        mutating func ended(_ number: UInt64, _ error: (any Error)?) -> [UInt64] {
            guard let index = items.firstIndex(where: { $0.number == number }) else { return [] }
            items[index].isSent = error == nil && !items[index].hasMissed
            if items[index].isSent == false, !hasFailed {
                hasFailed = true
                alternative = items[index].manner.alternative(after: error)
            }
            let sent = items.prefix { $0.isSent == true }.map(\.number)
            items.removeFirst(sent.count)
            return sent
        }
    }
}

extension OutboxDelivery.Manner {
    /// How else a subscriber may be reached: alone, where another one keeps the value from all, or with all.
    fileprivate func alternative(after error: (any Error)?) -> Self? {
        guard let error = error as? PeripheralError else { return nil }
        return switch self {
        case .alone: error.code == .notAddressable ? .together : nil
        case .together: error.meansAbsence ? .alone : nil
        }
    }
}
