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
            /// Whether the stack was gone meanwhile, so that its failure says nothing about the way.
            var isInterrupted = false
        }

        private var items: [Item] = []
        /// How the subscriber is to be sent updates; `nil` for as usual.
        private(set) var manner: Manner?
        /// Whether one was not sent: it and all after it are to be sent again.
        private(set) var hasFailed = false
        /// Whether one at a time goes, until one has been sent: on a link that is about to be encrypted, the first may be refused,
        /// and what follows overtake it.
        private var isCautious = false
        /// What failed had been on its way when the stack was gone: nothing that was known before holds any more.
        private var isInterrupted = false
        /// The manner by which what has failed may be sent all the same.
        private var alternative: Manner?

        /// Of a subscriber that has come back, or could not be sent something.
        static var afresh: Progress {
            var progress = Progress()
            progress.isCautious = true
            return progress
        }

        var numbers: [UInt64] { items.map(\.number) }
        private var underWay: Int { items.count { $0.isSent == nil } }
        /// Whether it has failed, and nothing is under way any more.
        private var isOver: Bool { hasFailed && underWay == 0 }

        /// Whether what has failed is to be sent again, but not at once.
        var isToBeTriedLater: Bool { isOver && next?.hasFailed == true }

        /// What it is from now on: nothing when nothing is under way, and as usual.
        var next: Progress? {
            if items.isEmpty, !hasFailed { return nil }
            if isOver, isInterrupted { return nil }
            guard isOver, manner == nil, let alternative else { return self }
            var next = Progress.afresh
            next.manner = alternative
            return next
        }

        /// Whether one more may be on its way.
        func hasPlace(for receiver: Receiver) -> Bool {
            underWay < (isCautious ? 1 : receiver.placeCount)
        }

        /// Whether a value of this post or an earlier one is under way to this subscriber alone.
        func isSendingAlone(upTo post: UInt64) -> Bool {
            items.contains { $0.post <= post && $0.manner == .alone && $0.isSent == nil }
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

        /// Takes note that the stack is gone, and with it all that is under way.
        mutating func interrupted() {
            for index in items.indices where items[index].isSent == nil { items[index].isInterrupted = true }
        }

        /// Takes note of what has become of one.
        ///
        /// - Returns: Those that have been sent, with all before them.
        mutating func ended(_ number: UInt64, _ error: (any Error)?) -> [UInt64] {
            guard let index = items.firstIndex(where: { $0.number == number }) else { return [] }
            items[index].isSent = error == nil && !items[index].hasMissed
            if items[index].isSent == false, !hasFailed {
                hasFailed = true
                isInterrupted = items[index].isInterrupted
                alternative = items[index].manner.alternative(after: error)
            }
            if items[index].isSent == true { isCautious = false }
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
