internal import PeripheralCore

/// The present and earlier subscribers, for the preserved state and for reports to the program.
struct SubscriberHistory {
    fileprivate struct Entry {
        var subscriber: PreservedSubscriber
        /// Whether the characteristic still exists.
        var isDeclared = true
        /// Whether the central is subscribed now.
        var isLive: Bool
        /// Whether the central is bonded with an adapter that the peripheral does not use.
        var isElsewhere = false
        /// Whether the central is connected and must subscribe again.
        ///
        /// Either the expected central has returned, or its subscription was lost.
        var isBack = false
        /// The number of disconnections before the disconnection of the central; 0 if it was not connected
        /// when the program began.
        var departure = 0
        /// The subscriber in the form for the program, if it was restored.
        var restored: RestoredSubscriber?
    }

    /// A restored subscriber.
    struct Restored {
        var subscriber: RestoredSubscriber
        /// The present handle of the characteristic in the table; `nil` when it no longer exists.
        var handle: AttributeHandle?
        /// The time of the subscription, in seconds since 1970.
        var since: Int64
        /// The adapter that the central is bonded with; `nil` when the adapter is not known.
        var adapter: DeviceAddress?
    }

    private var entries: [Entry] = []
    /// The adapter that the peripheral uses; `nil` while the adapter is not known.
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
                    // The handle of a removed characteristic is not used and not preserved.
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

    /// The subscribers to preserve: the present subscribers, and bonded centrals that are expected to return.
    var preserved: [PreservedSubscriber] {
        entries.filter(\.isPreserved).map(\.subscriber)
    }

    /// Returns the subscribers that receive updates of a characteristic, now or when they return.
    func addresses(of characteristic: AttributeHandle) -> [DeviceAddress] {
        entries.filter { ($0.isLive || $0.isExpected) && $0.subscriber.characteristic == characteristic }.map(
            \.subscriber.address
        )
    }

    /// Returns the connected subscribers of a characteristic.
    func liveAddresses(of characteristic: AttributeHandle) -> [DeviceAddress] {
        entries.filter { $0.isLive && $0.subscriber.characteristic == characteristic }.map(
            \.subscriber.address
        )
    }

    /// Whether a bonded subscriber is not connected.
    var isExpecting: Bool { entries.contains(where: \.isExpected) }

    /// The restored subscribers with their present status.
    var restored: [RestoredSubscriber] { entries.compactMap(\.restored) }

    /// Handles a subscription.
    ///
    /// - Returns: The changed subscribers to report to the program.
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
            let reported = makeRoom()
            entries.append(Entry(subscriber: subscriber, isLive: true))
            return reported
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

    /// Handles the end of a subscription.
    mutating func unsubscribed(
        _ central: DeviceAddress?,
        from characteristic: AttributeHandle
    ) -> [RestoredSubscriber] {
        end(.mustSubscribeAgain) {
            $0.isLive && $0.subscriber.characteristic == characteristic
                && (central == nil || $0.subscriber.address == central)
        }
    }

    /// Records that a connected central must subscribe again.
    ///
    /// The updates retained for the central stay until it disconnects. If the central is bonded, they stay
    /// after that.
    mutating func lost(
        _ central: DeviceAddress,
        from characteristic: AttributeHandle
    ) -> [RestoredSubscriber] {
        var reported: [RestoredSubscriber] = []
        for index in entries.indices
        where entries[index].isLive && entries[index].subscriber.address == central
            && entries[index].subscriber.characteristic == characteristic
        {
            (entries[index].isLive, entries[index].isBack) = (false, true)
            reported += entries[index].setStatus(.mustSubscribeAgain)
        }
        return reported
    }

    /// Handles a disconnection.
    ///
    /// A bonded central is expected to return.
    mutating func disconnected(_ central: DeviceAddress) -> [RestoredSubscriber] {
        suspend { $0.subscriber.address == central }
    }

    /// Handles the disconnection of all centrals.
    mutating func suspended() -> [RestoredSubscriber] {
        suspend { _ in true }
    }

    private mutating func suspend(_ isGone: (Entry) -> Bool) -> [RestoredSubscriber] {
        var reported: [RestoredSubscriber] = []
        departures += 1
        for index in entries.indices
        where (entries[index].isLive || entries[index].isBack) && isGone(entries[index]) {
            guard entries[index].subscriber.isBonded else { continue }
            (entries[index].isLive, entries[index].isBack) = (false, false)
            entries[index].departure = departures
            reported += entries[index].setStatus(.expected)
        }
        return reported + end(.mustSubscribeAgain) { ($0.isLive || $0.isBack) && isGone($0) }
    }

    /// Updates the data of a connected central.
    ///
    /// An expected central has returned and must subscribe.
    ///
    /// - Returns: The changed subscribers to report to the program.
    mutating func changed(_ central: Central) -> [RestoredSubscriber] {
        for index in entries.indices
        where (entries[index].isLive || entries[index].isBack)
            && entries[index].subscriber.address == central.address
        {
            entries[index].subscriber.addressKind = central.addressKind
            entries[index].subscriber.isBonded = central.isBonded
            entries[index].restored?.central = central
        }
        var reported: [RestoredSubscriber] = []
        for index in entries.indices
        where entries[index].isExpected && entries[index].subscriber.address == central.address {
            // The updates retained for the central stay, because it may subscribe at any moment.
            entries[index].isBack = true
            entries[index].restored?.central = central
            reported += entries[index].setStatus(.mustSubscribeAgain)
        }
        return reported
    }

    /// Records the adapter that the peripheral uses.
    ///
    /// Centrals that are bonded with another adapter are not expected.
    ///
    /// - Returns: The changed subscribers to report to the program.
    mutating func published(on adapter: DeviceAddress?) -> [RestoredSubscriber] {
        guard let adapter else { return [] }
        self.adapter = adapter
        var reported: [RestoredSubscriber] = []
        for index in entries.indices {
            let own = entries[index].subscriber.adapter ?? adapter
            entries[index].subscriber.adapter = own
            entries[index].isElsewhere = own != adapter
            guard !entries[index].isLive, !entries[index].isBack, entries[index].isPreserved else { continue }
            reported += entries[index].setStatus(own == adapter ? .expected : .mustSubscribeAgain)
        }
        return reported
    }

    /// Records the identity address of a central that may be expected under that address.
    ///
    /// - Returns: The changed subscribers to report to the program.
    mutating func moved(from former: DeviceAddress, to central: Central) -> [RestoredSubscriber] {
        var reported: [RestoredSubscriber] = []
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
            reported += subscribed(
                central,
                to: subscriber.characteristic,
                kind: subscriber.kind,
                at: subscriber.since
            )
        }
        return reported
    }

    private func index(of central: Central, subscribedTo characteristic: AttributeHandle) -> Int? {
        entries.firstIndex {
            $0.isDeclared && $0.subscriber.address == central.address
                && $0.subscriber.characteristic == characteristic
        }
    }

    /// Updates which centrals are bonded.
    ///
    /// Centrals that are not bonded are no longer expected.
    mutating func bonded(_ centrals: Set<DeviceAddress>) -> [RestoredSubscriber] {
        for index in entries.indices
        where !entries[index].isLive && !centrals.contains(entries[index].subscriber.address) {
            entries[index].restored?.forgetBond()
        }
        return end(.mustSubscribeAgain) { entry in
            entry.isExpected && entry.subscriber.isBonded && !centrals.contains(entry.subscriber.address)
        }
    }

    /// Records that the program has removed a service.
    mutating func removed(_ handles: ClosedRange<AttributeHandle>) -> [RestoredSubscriber] {
        let reported = end(.mustSubscribeAgain) { handles.contains($0.subscriber.characteristic) }
        // Another service can have the same handles later.
        for index in entries.indices where handles.contains(entries[index].subscriber.characteristic) {
            (entries[index].subscriber.characteristic, entries[index].isDeclared) = (0, false)
        }
        return reported
    }

    private mutating func end(
        _ status: RestoredSubscriber.Status,
        _ isOver: (Entry) -> Bool
    ) -> [RestoredSubscriber] {
        var reported: [RestoredSubscriber] = []
        for index in entries.indices where isOver(entries[index]) {
            (entries[index].isLive, entries[index].isBack) = (false, false)
            entries[index].subscriber.isBonded = false
            reported += entries[index].setStatus(status)
        }
        // Restored subscribers stay visible for the program.
        entries.removeAll { !$0.isPreserved && $0.restored == nil }
        return reported
    }

    /// Stops expecting the longest disconnected subscriber if there are too many subscribers to preserve.
    ///
    /// - Returns: The changed subscribers to report to the program.
    private mutating func makeRoom() -> [RestoredSubscriber] {
        guard entries.count(where: \.isPreserved) >= PreservedSchema.maximumSubscribers else { return [] }
        let absent = entries.filter { $0.isPreserved && !$0.isLive && !$0.isBack }
        let candidates = absent.contains(where: \.isElsewhere) ? absent.filter(\.isElsewhere) : absent
        guard let oldest = candidates.min(by: { $0.departure < $1.departure })?.subscriber else { return [] }
        return end(.mustSubscribeAgain) { $0.isPreserved && !$0.isLive && $0.subscriber == oldest }
    }
}

extension SubscriberHistory.Entry {
    /// Whether the central is expected to return.
    ///
    /// An expected central is not subscribed, is bonded with this adapter, and had subscribed to a
    /// characteristic that still exists.
    fileprivate var isExpected: Bool { isPreserved && !isLive && !isElsewhere }

    fileprivate var isPreserved: Bool { isLive || isDeclared && (isBack || subscriber.isBonded) }

    fileprivate mutating func setStatus(_ status: RestoredSubscriber.Status) -> [RestoredSubscriber] {
        guard restored != nil, restored?.status != status else { return [] }
        restored?.status = status
        return restored.map { [$0] } ?? []
    }
}
