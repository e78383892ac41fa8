internal import PeripheralCore

/// Who has subscribed, and who had before the program ended: what of it is preserved, and what the program is
/// told.
struct SubscriberHistory {
    fileprivate struct Entry {
        var subscriber: PreservedSubscriber
        /// Whether there still is what it had subscribed to.
        var isDeclared = true
        /// Whether it is subscribed now.
        var isLive: Bool
        /// Whether it is bonded with an adapter that the peripheral is not on.
        var isElsewhere = false
        /// Whether it is here, and has to subscribe again: it was expected and has returned, or its
        /// subscription was lost.
        var isBack = false
        /// How many had left before; 0 for one that was away already when the program began.
        var departure = 0
        /// As the program knows it, of one that was restored.
        var restored: RestoredSubscriber?
    }

    /// A subscriber of before.
    struct Restored {
        var subscriber: RestoredSubscriber
        /// The characteristic, by its handle in the table now; `nil` where it is gone.
        var handle: AttributeHandle?
        /// When it subscribed, in seconds since 1970.
        var since: Int64
        /// The adapter that it is bonded with; `nil` where it is not known.
        var adapter: DeviceAddress?
    }

    private var entries: [Entry] = []
    /// The adapter that the peripheral is on; `nil` while it is not known.
    private var adapter: DeviceAddress?
    private var departures = 0

    init(_ restored: [Restored]) {
        entries = restored.map { restored in
            let subscriber = restored.subscriber
            return Entry(
                subscriber: PreservedSubscriber(
                    address: subscriber.central.address,
                    addressKind: subscriber.central.addressKind,
                    isBonded: subscriber.central.isBonded,
                    // Of one that is gone, the handle means nothing, and is not preserved either.
                    characteristic: restored.handle ?? 0,
                    kind: subscriber.kind,
                    since: restored.since,
                    adapter: restored.adapter
                ),
                isDeclared: restored.handle != nil,
                isLive: false,
                restored: subscriber
            )
        }
    }

    /// Those to preserve: who is subscribed, and who is bonded and will be again.
    var preserved: [PreservedSubscriber] {
        entries.filter(\.isPreserved).map(\.subscriber)
    }

    /// Who gets what is sent of a characteristic, also on return.
    func addresses(of characteristic: AttributeHandle) -> [DeviceAddress] {
        entries.filter { ($0.isLive || $0.isExpected) && $0.subscriber.characteristic == characteristic }.map(
            \.subscriber.address
        )
    }

    /// Who has subscribed to a characteristic, and is there.
    func liveAddresses(of characteristic: AttributeHandle) -> [DeviceAddress] {
        entries.filter { $0.isLive && $0.subscriber.characteristic == characteristic }.map(
            \.subscriber.address
        )
    }

    /// Whether somebody is away who is bonded.
    var isExpecting: Bool { entries.contains(where: \.isExpected) }

    /// Those of before, as they are now.
    var restored: [RestoredSubscriber] { entries.compactMap(\.restored) }

    /// Takes note of a subscription.
    ///
    /// - Returns: Whom the program is told of.
    mutating func subscribed(
        _ central: Central,
        to characteristic: AttributeHandle,
        kind: UpdateKind?,
        at time: Int64
    ) -> [RestoredSubscriber] {
        guard let index = index(of: central, subscribedTo: characteristic) else {
            let subscriber = PreservedSubscriber(
                address: central.address,
                addressKind: central.addressKind,
                isBonded: central.isBonded,
                characteristic: characteristic,
                kind: kind,
                since: time,
                adapter: adapter
            )
            let told = makeRoom()
            entries.append(Entry(subscriber: subscriber, isLive: true))
            return told
        }
        entries[index].subscriber.adapter = adapter ?? entries[index].subscriber.adapter
        (entries[index].isElsewhere, entries[index].isBack) = (false, false)
        if !entries[index].isLive, !entries[index].isExpected { entries[index].subscriber.since = time }
        entries[index].subscriber.isBonded = central.isBonded
        entries[index].subscriber.kind = kind
        entries[index].isLive = true
        entries[index].restored?.central = central
        return entries[index].setStatus(.subscribed)
    }

    /// Takes note of the end of a subscription.
    mutating func unsubscribed(
        _ central: DeviceAddress?,
        from characteristic: AttributeHandle
    ) -> [RestoredSubscriber] {
        end(.mustSubscribeAgain) {
            $0.isLive && $0.subscriber.characteristic == characteristic
                && (central == nil || $0.subscriber.address == central)
        }
    }

    /// Takes note that a connected central has to subscribe anew; what is kept for it stays until it leaves,
    /// and then if it is bonded.
    mutating func lost(
        _ central: DeviceAddress,
        from characteristic: AttributeHandle
    ) -> [RestoredSubscriber] {
        var told: [RestoredSubscriber] = []
        for index in entries.indices
        where entries[index].isLive && entries[index].subscriber.address == central
            && entries[index].subscriber.characteristic == characteristic
        {
            (entries[index].isLive, entries[index].isBack) = (false, true)
            told += entries[index].setStatus(.mustSubscribeAgain)
        }
        return told
    }

    /// Takes note that a central is gone: a bonded one comes back.
    mutating func disconnected(_ central: DeviceAddress) -> [RestoredSubscriber] {
        suspend { $0.subscriber.address == central }
    }

    /// Takes note that everybody is gone.
    mutating func suspended() -> [RestoredSubscriber] {
        suspend { _ in true }
    }

    private mutating func suspend(_ isGone: (Entry) -> Bool) -> [RestoredSubscriber] {
        var told: [RestoredSubscriber] = []
        departures += 1
        for index in entries.indices
        where (entries[index].isLive || entries[index].isBack) && isGone(entries[index]) {
            guard entries[index].subscriber.isBonded else { continue }
            (entries[index].isLive, entries[index].isBack) = (false, false)
            entries[index].departure = departures
            told += entries[index].setStatus(.expected)
        }
        return told + end(.mustSubscribeAgain) { ($0.isLive || $0.isBack) && isGone($0) }
    }

    /// Takes note of what is known of a central that is here; one that is expected has come back, and is to
    /// subscribe.
    ///
    /// - Returns: Whom the program is told of.
    mutating func changed(_ central: Central) -> [RestoredSubscriber] {
        for index in entries.indices
        where (entries[index].isLive || entries[index].isBack)
            && entries[index].subscriber.address == central.address
        {
            entries[index].subscriber.addressKind = central.addressKind
            entries[index].subscriber.isBonded = central.isBonded
            entries[index].restored?.central = central
        }
        var told: [RestoredSubscriber] = []
        for index in entries.indices
        where entries[index].isExpected && entries[index].subscriber.address == central.address {
            // What is kept for it stays: it may subscribe at any moment.
            entries[index].isBack = true
            entries[index].restored?.central = central
            told += entries[index].setStatus(.mustSubscribeAgain)
        }
        return told
    }

    /// Takes note of the adapter that the peripheral is on: who is bonded with another one does not come to
    /// it.
    ///
    /// - Returns: Whom the program is told of.
    mutating func published(on adapter: DeviceAddress?) -> [RestoredSubscriber] {
        guard let adapter else { return [] }
        self.adapter = adapter
        var told: [RestoredSubscriber] = []
        for index in entries.indices {
            let own = entries[index].subscriber.adapter ?? adapter
            entries[index].subscriber.adapter = own
            entries[index].isElsewhere = own != adapter
            guard !entries[index].isLive, !entries[index].isBack, entries[index].isPreserved else { continue }
            told += entries[index].setStatus(own == adapter ? .expected : .mustSubscribeAgain)
        }
        return told
    }

    /// Takes note that a central has shown its lasting address, under which it may be expected.
    ///
    /// - Returns: Whom the program is told of.
    mutating func moved(from former: DeviceAddress, to central: Central) -> [RestoredSubscriber] {
        var told: [RestoredSubscriber] = []
        for index in entries.indices.reversed()
        where (entries[index].isLive || entries[index].isBack)
            && entries[index].subscriber.address == former
        {
            let subscriber = entries[index].subscriber
            guard self.index(of: central, subscribedTo: subscriber.characteristic) != nil else {
                entries[index].subscriber.address = central.address
                continue
            }
            guard entries.remove(at: index).isLive else { continue }
            told += subscribed(
                central,
                to: subscriber.characteristic,
                kind: subscriber.kind,
                at: subscriber.since
            )
        }
        return told
    }

    private func index(of central: Central, subscribedTo characteristic: AttributeHandle) -> Int? {
        entries.firstIndex {
            $0.isDeclared && $0.subscriber.address == central.address
                && $0.subscriber.characteristic == characteristic
        }
    }

    /// Takes note of who is bonded: nobody else is expected any more.
    mutating func bonded(_ centrals: Set<DeviceAddress>) -> [RestoredSubscriber] {
        for index in entries.indices
        where !entries[index].isLive && !centrals.contains(entries[index].subscriber.address) {
            entries[index].restored?.forgetBond()
        }
        return end(.mustSubscribeAgain) { entry in
            entry.isExpected && entry.subscriber.isBonded && !centrals.contains(entry.subscriber.address)
        }
    }

    private mutating func end(
        _ status: RestoredSubscriber.Status,
        _ isOver: (Entry) -> Bool
    ) -> [RestoredSubscriber] {
        var told: [RestoredSubscriber] = []
        for index in entries.indices where isOver(entries[index]) {
            (entries[index].isLive, entries[index].isBack) = (false, false)
            entries[index].subscriber.isBonded = false
            told += entries[index].setStatus(status)
        }
        // Those of before are kept for the program to see.
        entries.removeAll { !$0.isPreserved && $0.restored == nil }
        return told
    }

    /// Expects no longer who has been away the longest, when there are more than are preserved.
    ///
    /// - Returns: Whom the program is told of.
    private mutating func makeRoom() -> [RestoredSubscriber] {
        guard entries.count(where: \.isPreserved) >= PreservedSchema.maximumSubscribers else { return [] }
        let absent = entries.filter { $0.isPreserved && !$0.isLive && !$0.isBack }
        let candidates = absent.contains(where: \.isElsewhere) ? absent.filter(\.isElsewhere) : absent
        guard let oldest = candidates.min(by: { $0.departure < $1.departure })?.subscriber else { return [] }
        return end(.mustSubscribeAgain) { $0.isPreserved && !$0.isLive && $0.subscriber == oldest }
    }
}

extension SubscriberHistory.Entry {
    /// Whether it is bonded, not subscribed, and had subscribed to something that is still there.
    fileprivate var isExpected: Bool { isPreserved && !isLive && !isElsewhere }

    fileprivate var isPreserved: Bool { isLive || isDeclared && (isBack || subscriber.isBonded) }

    fileprivate mutating func setStatus(_ status: RestoredSubscriber.Status) -> [RestoredSubscriber] {
        guard restored != nil, restored?.status != status else { return [] }
        restored?.status = status
        return restored.map { [$0] } ?? []
    }
}
