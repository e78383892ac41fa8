internal import PeripheralCore
internal import PeripheralDBus

/// Makes sure that no other program has a service where this one requests handles, and that none comes there.
///
/// Programs of this framework keep out of each other's blocks (``HandleBlock``). Services that bluetoothd has
/// placed by itself, for a program of any kind, are looked for once in a database: bluetoothd places such
/// services behind all handles that it has ever used, so none comes later.
///
/// All blocks are claimed while the services are registered. Afterwards, ``keep(_:in:)`` gives up those that
/// bluetoothd has chosen.
///
/// It lasts as long as one connection to the bus, which ends all claims. One call is under way at a time.
actor HandleReservation {
    private var claimed: Set<HandleBlock> = []
    private(set) var record: HandleRecord

    init(_ record: HandleRecord) {
        self.record = record
    }

    /// How bluetoothd is reached.
    struct Daemon: Sendable {
        let connection: BusConnection
        let managers: AdapterManagers
        /// One adapter of one run of bluetoothd; `nil` when it cannot be told from the next.
        let database: String?
        /// Whether this version tells which handle it has chosen.
        let tellsHandles: Bool
        let clock: any Clock<Duration>
    }

    /// How long to wait, each time that bluetoothd refuses handles.
    ///
    /// Another program that looks for free handles occupies them for a moment, or claims their block while it
    /// registers. bluetoothd keeps what it has refused until it has nothing else to do.
    private static let pauses: [Duration] = [.milliseconds(50), .milliseconds(100), .milliseconds(200)]

    /// Reserves ranges of handles, and gives up what was reserved before.
    ///
    /// - Parameters:
    ///   - ranges: What is to be requested.
    ///   - daemon: How bluetoothd is reached.
    /// - Returns: The blocks in which others have handles of these ranges; none when everything is reserved.
    /// - Throws: `BusError`.
    func reserve(
        _ ranges: [ClosedRange<AttributeHandle>],
        in daemon: Daemon
    ) async throws(BusError) -> Set<HandleBlock> {
        let needed = HandleBlock.touched(by: ranges)
        try await release(claimed.subtracting(needed), in: daemon)
        let unchecked = ranges.filter { !record.isChecked($0, in: daemon.database) }
        if !unchecked.isEmpty { try await passClaims(in: daemon) }
        for block in needed.subtracting(claimed).sorted() {
            // All programs claim in this order. A program that is refused stops, so the other gets all.
            guard try await isRegistered(claim(of: block, in: daemon), in: daemon) else { return [block] }
            claimed.insert(block)
        }
        let refused = try await blocksOfOthers(in: unchecked, of: daemon)
        if refused.isEmpty, let database = daemon.database { record.setChecked(ranges, in: database) }
        return refused
    }

    /// Keeps the claims on the blocks of these ranges, and gives up the others.
    func keep(_ ranges: [ClosedRange<AttributeHandle>], in daemon: Daemon) async throws(BusError) {
        try await release(claimed.subtracting(HandleBlock.touched(by: ranges)), in: daemon)
    }

    /// From here on, bluetoothd places nothing where a claim has to stand.
    func passClaims(in daemon: Daemon) async throws(BusError) {
        _ = try await probe([HandleBlock.endOfClaims], of: daemon).attempt(by: daemon.managers)
    }

    /// Has every range looked at anew, since bluetoothd has refused one.
    func forgetChecks() {
        record.forgetChecked()
    }

    /// Gives up everything.
    func release(in daemon: Daemon) async throws(BusError) {
        try await release(claimed, in: daemon)
    }

    private func release(_ blocks: Set<HandleBlock>, in daemon: Daemon) async throws(BusError) {
        for block in blocks {
            try await claim(of: block, in: daemon).withdraw(by: daemon.managers)
            claimed.remove(block)
        }
    }

    private func isRegistered(_ claim: PlaceholderServices, in daemon: Daemon) async throws(BusError) -> Bool
    {
        for pause in Self.pauses {
            if try await claim.register(by: daemon.managers) { return true }
            try? await daemon.clock.sleep(for: pause)
        }
        return try await claim.register(by: daemon.managers)
    }

    private func claim(of block: HandleBlock, in daemon: Daemon) throws(BusError) -> PlaceholderServices {
        PlaceholderServices(
            at: [block.claim],
            uuid: record.claimUUID,
            root: try ObjectPath("/claims/block\(block.number)"),
            on: daemon.connection
        )
    }

    /// Looks for services that bluetoothd has placed in these ranges.
    private func blocksOfOthers(
        in ranges: [ClosedRange<AttributeHandle>],
        of daemon: Daemon
    ) async throws(BusError) -> Set<HandleBlock> {
        guard let last = ranges.map(\.upperBound).max() else { return [] }
        let next = try await nextHandle(using: last.endOfBlock, of: daemon)
        var refused: Set<HandleBlock> = []
        for range in ranges {
            let used = (range.lowerBound.rawValue...range.upperBound.rawValue)
                .map(AttributeHandle.init(rawValue:))
                .filter { handle in next.map { handle < $0 } ?? true }
            // bluetoothd compares only the ends of a new service with what is there, so each handle needs one
            // of its own.
            if !used.isEmpty, try await !isFree(used, of: daemon) {
                refused.formUnion(HandleBlock.touched(by: range))
            }
        }
        return refused
    }

    /// The handle that bluetoothd would choose next: it has used none from there on.
    ///
    /// - Parameters:
    ///   - last: A handle that bluetoothd uses at the same time, so that it will choose none up to this one.
    ///   - daemon: How bluetoothd is reached.
    /// - Returns: The handle; `nil` when this version does not tell.
    /// - Throws: `BusError`.
    private func nextHandle(
        using last: AttributeHandle,
        of daemon: Daemon
    ) async throws(BusError) -> AttributeHandle? {
        guard daemon.tellsHandles else { return nil }
        return try await probe([nil, last], of: daemon).attempt(by: daemon.managers).chosen.first
    }

    private func isFree(_ handles: [AttributeHandle], of daemon: Daemon) async throws(BusError) -> Bool {
        for pause in Self.pauses {
            if try await probe(handles, of: daemon).attempt(by: daemon.managers).isFree { return true }
            // A program that ends meanwhile sees it by the next call.
            try? await daemon.clock.sleep(for: pause)
        }
        return try await probe(handles, of: daemon).attempt(by: daemon.managers).isFree
    }

    private func probe(_ handles: [AttributeHandle?], of daemon: Daemon) -> PlaceholderServices {
        PlaceholderServices(at: handles, root: "/probe", on: daemon.connection)
    }
}

extension AttributeHandle {
    /// The last handle of a block of 16, so that bluetoothd places nothing in the rest of it.
    fileprivate var endOfBlock: AttributeHandle {
        rawValue < 0x03E0 ? AttributeHandle(rawValue: rawValue | 0xF) : self
    }
}
