internal import PeripheralCore
internal import PeripheralDBus

/// Reserves handles, so no other program has a service at these handles.
///
/// Programs that use this framework avoid each other's blocks (`HandleBlock`). The reservation also checks
/// once in each database whether bluetoothd has placed services of any program at the handles. bluetoothd
/// places such services after all handles that it has ever used. Therefore no such service appears at these
/// handles later.
///
/// All blocks are claimed while the services are registered. Afterwards, ``keep(_:in:)`` releases the blocks
/// of the handles that bluetoothd has chosen.
///
/// The reservation lasts as long as one connection to the bus, because the end of the connection ends all
/// claims. Only one call runs at a time.
actor HandleReservation {
    private var claimed: Set<HandleBlock> = []
    /// The blocks for services that the program adds during the run.
    private var room: Set<HandleBlock> = []
    private var hasReservedRoom = false
    /// The other blocks that added services use or have used, in the order of their last use.
    private var former: [HandleBlock] = []
    /// The handles of the claimed blocks that contain no service of another program.
    private var free: [ClosedRange<AttributeHandle>] = []
    /// The blocks that another program had when this program last tried to claim them.
    private(set) var foreign: Set<HandleBlock> = []
    private(set) var record: HandleRecord

    init(_ record: HandleRecord) {
        self.record = record
    }

    /// The access to bluetoothd.
    struct Daemon: Sendable {
        let connection: BusConnection
        let managers: AdapterManagers
        /// One adapter of one run of bluetoothd; `nil` if it cannot be distinguished from the next adapter or
        /// run.
        let database: String?
        /// Whether this version reports the handles that it has chosen.
        let reportsHandles: Bool
        let clock: any Clock<Duration>
    }

    /// The pauses before each further attempt after bluetoothd has refused handles.
    ///
    /// Another program that searches for free handles occupies these handles for a moment. It also claims
    /// their block while it registers. bluetoothd keeps refused services until it is idle.
    private static let pauses: [Duration] = [.milliseconds(50), .milliseconds(100), .milliseconds(200)]

    /// The additional pauses before a program that returns to its handles gives up a block.
    ///
    /// Programs with handles that bluetoothd had chosen often share a block, and return one after the other.
    private static let pausesOnReturn: [Duration] = [400, 800, 1600, 3200].map { .milliseconds($0) }

    /// Reserves ranges of handles, and releases the earlier reservation.
    ///
    /// - Parameters:
    ///   - ranges: The ranges to request.
    ///   - kept: The ranges of registered services, whose reservation continues.
    ///   - returns: Whether the program returns to handles that bluetoothd had chosen.
    ///   - daemon: The access to bluetoothd.
    /// - Returns: The blocks in which other programs have handles of these ranges. The set is empty if all
    ///   ranges are reserved.
    /// - Throws: `BusError`.
    func reserve(
        _ ranges: [ClosedRange<AttributeHandle>],
        besides kept: [ClosedRange<AttributeHandle>] = [],
        returns: Bool = false,
        in daemon: Daemon
    ) async throws(BusError) -> Set<HandleBlock> {
        let used = HandleBlock.touched(by: ranges + kept)
        forgetOldest(besides: used)
        let needed = blocks(neededWith: used)
        try await release(claimed.subtracting(needed), in: daemon)
        guard !needed.isEmpty else { return [] }
        // Each probe would make bluetoothd indicate Service Changed. Nothing has changed in claimed blocks.
        if needed.isSubset(of: claimed), ranges.allSatisfy(isFree) { return [] }
        let isNew = daemon.database == nil || record.database != daemon.database
        if isNew { try await passClaims(in: daemon) }
        for block in needed.subtracting(claimed).sorted() {
            // All programs claim in this order. A program whose claim is refused stops, so the other program
            // receives all blocks.
            let pauses = Self.pauses + (returns ? Self.pausesOnReturn : [])
            guard try await isRegistered(claim(of: block, in: daemon), pauses, in: daemon) else {
                foreign.insert(block)
                return [block]
            }
            claimed.insert(block)
            foreign.remove(block)
        }
        // No other program can register at these handles from now on.
        let page = isNew || record.page == nil ? nil : try await currentPage(in: daemon)
        let unchecked = ranges.filter { !record.isChecked($0, in: daemon.database, page: page) }
        guard let last = unchecked.map(\.upperBound).max()?.endOfBlock else {
            free += ranges
            return []
        }
        let next = try await nextHandle(using: last, in: daemon)
        let refused = try await blocksOfOthers(in: unchecked, before: next, of: daemon)
        if refused.isEmpty, let database = daemon.database {
            // bluetoothd has used this handle, and chooses the next one from now on.
            let used = next.map { max($0, last) }
            record.setChecked(
                ranges + kept,
                in: database,
                page: used.flatMap { Self.page(of: Int($0.rawValue) + 1) }
            )
        }
        if refused.isEmpty { free += ranges }
        return refused
    }

    /// Returns whether a range contains no service of another program, as far as it was checked.
    private func isFree(_ range: ClosedRange<AttributeHandle>) -> Bool {
        var next = range.lowerBound
        while let known = free.first(where: { $0.contains(next) }) {
            guard known.upperBound < range.upperBound else { return true }
            next = AttributeHandle(rawValue: known.upperBound.rawValue + 1)
        }
        return false
    }

    /// Whether added services use blocks that had to be claimed for them.
    ///
    /// - Parameters:
    ///   - count: The number of handles to reserve. They are reserved after the first registration.
    ///   - ranges: The handles of the services.
    /// - Returns: `false` as well if the handles are not reserved yet.
    func exceedsRoom(of count: Int, _ ranges: [ClosedRange<AttributeHandle>]) -> Bool {
        guard hasReservedRoom || count == 0 else { return false }
        return !HandleBlock.touched(by: ranges).isSubset(of: room.union(former))
    }

    /// Keeps the claims on the blocks of added services, even when the services are removed.
    ///
    /// A removed service can therefore return to its handles.
    func keepRoom(for ranges: [ClosedRange<AttributeHandle>]) {
        let new = HandleBlock.touched(by: ranges).intersection(claimed).subtracting(room)
        former.removeAll(where: new.contains)
        former += new.sorted()
    }

    /// The maximum number of claimed blocks that no service uses, besides ``room``.
    ///
    /// Without a limit, a program with ever new services would in the end claim all blocks that the Database
    /// Hash covers, and other programs could add no services. Half of the blocks stay for these programs. The
    /// limit is not lower, because each release and each new claim makes bluetoothd indicate Service Changed,
    /// and because a removed service returns to its handles only if no other program claims its block.
    private static let maximumFormer = HandleBlock.belowEndOfHash.count / 2

    /// Gives up the blocks whose last use was longest ago, above ``maximumFormer``.
    ///
    /// The blocks contain no services, so their release needs no new page.
    private func forgetOldest(besides used: Set<HandleBlock>) {
        let inUse = former.filter(used.contains)
        former.removeAll(where: used.contains)
        former = former.suffix(Self.maximumFormer) + inUse
    }

    /// Claims the lowest blocks for services that the program adds later.
    ///
    /// Each claim and each check makes bluetoothd indicate Service Changed. The room for added services is
    /// therefore reserved before the peripheral is published.
    ///
    /// - Parameters:
    ///   - count: The number of handles.
    ///   - used: The handles of the program's services.
    ///   - daemon: The access to bluetoothd.
    /// - Throws: `BusError`.
    func reserveRoom(
        for count: Int,
        besides used: [ClosedRange<AttributeHandle>],
        in daemon: Daemon
    ) async throws(BusError) {
        guard count > 0, !hasReservedRoom else { return }
        hasReservedRoom = true
        if claimed.isEmpty { try await passClaims(in: daemon) }
        var unchecked: [ClosedRange<AttributeHandle>] = []
        var left = count
        for block in HandleBlock.belowEndOfHash where left > 0 {
            if !claimed.contains(block) {
                guard try await claim(of: block, in: daemon).register(by: daemon.managers) else {
                    foreign.insert(block)
                    continue
                }
                claimed.insert(block)
            }
            let unused = block.handles.without(used)
            unchecked += unused
            left -= unused.reduce(0) { $0 + $1.upperBound.rawValue.distance(from: $1.lowerBound.rawValue) }
            room.insert(block)
        }
        guard let last = unchecked.map(\.upperBound).max()?.endOfBlock else { return }
        let next = try await nextHandle(using: last, in: daemon)
        let refused = try await blocksOfOthers(in: unchecked, before: next, of: daemon)
        room.subtract(refused)
        foreign.formUnion(refused)
        let idle = refused.subtracting(HandleBlock.touched(by: used))
        try await release(idle, in: daemon)
        free += unchecked.filter { HandleBlock.touched(by: $0).isDisjoint(with: refused) }
    }

    /// Keeps the claims on the blocks of these ranges, and releases the other claims.
    ///
    /// A program that checked the released blocks before must check them again. Without a new page, this
    /// program keeps all claims instead.
    func keep(_ ranges: [ClosedRange<AttributeHandle>], in daemon: Daemon) async throws(BusError) {
        let idle = claimed.subtracting(blocks(neededWith: HandleBlock.touched(by: ranges)))
        guard !idle.isEmpty, try await turnPage(in: daemon) else { return }
        try await release(idle, in: daemon)
    }

    /// Begins a new page of the database.
    ///
    /// A page consists of 64 handles. The current page contains the handle that bluetoothd would choose next.
    /// A program that returns to handles that bluetoothd had chosen claims them only for a moment. It turns
    /// the page before it releases its claims. Programs that have checked the same handles in an earlier page
    /// check them again.
    ///
    /// - Returns: `false` if there is no further page, or this version does not report handles.
    private func turnPage(in daemon: Daemon) async throws(BusError) -> Bool {
        guard let current = try await currentPage(in: daemon) else { return false }
        for page in current..<(Self.pageCount - 1) {
            let last = AttributeHandle(rawValue: UInt16(page * Self.pageSize + Self.pageSize - 1))
            // A service may use the last handle of the page.
            if try await probe([last], of: daemon).attempt(by: daemon.managers).isFree { return true }
        }
        return false
    }

    private static let pageSize = 64

    /// The number of pages.
    ///
    /// If bluetoothd has used a handle from 0x0400 on, it no longer calculates the Database Hash
    /// (`db_hash_update` in gatt-db.c). Therefore the pages end before.
    private static let pageCount = 15

    /// Returns the page of a handle; `nil` if the handle is in no page.
    private static func page(of handle: Int) -> Int? {
        let page = handle / pageSize
        return page < pageCount ? page : nil
    }

    /// Returns the page of the handle that bluetoothd would choose next; `nil` if it is in no page.
    private func currentPage(in daemon: Daemon) async throws(BusError) -> Int? {
        guard let next = try await nextHandle(in: daemon) else { return nil }
        return Self.page(of: Int(next.rawValue))
    }

    /// Prevents bluetoothd from placing services at the handles of the claims.
    func passClaims(in daemon: Daemon) async throws(BusError) {
        _ = try await probe([HandleBlock.endOfClaims], of: daemon).attempt(by: daemon.managers)
    }

    /// Requires a new check of every range, because bluetoothd has refused a range.
    func forgetChecks() {
        free = []
        record.forgetChecked()
    }

    /// Releases the claims that neither registered services need, nor services that are added later.
    func releaseIdle(besides kept: [ClosedRange<AttributeHandle>], in daemon: Daemon) async throws(BusError) {
        try await release(claimed.subtracting(blocks(neededWith: HandleBlock.touched(by: kept))), in: daemon)
    }

    /// Returns the blocks that services use, and the blocks for services that are added later.
    private func blocks(neededWith used: Set<HandleBlock>) -> Set<HandleBlock> {
        used.union(room).union(former)
    }

    /// Releases all claims.
    func release(in daemon: Daemon) async throws(BusError) {
        try await release(claimed, in: daemon)
    }

    private func release(_ blocks: Set<HandleBlock>, in daemon: Daemon) async throws(BusError) {
        for block in blocks {
            try await claim(of: block, in: daemon).withdraw(by: daemon.managers)
            claimed.remove(block)
            free.removeAll { HandleBlock.touched(by: $0).contains(block) }
        }
    }

    private func isRegistered(
        _ claim: PlaceholderServices,
        _ pauses: [Duration],
        in daemon: Daemon
    ) async throws(BusError) -> Bool {
        for pause in pauses {
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

    /// Returns the blocks of these ranges in which bluetoothd has placed services.
    ///
    /// bluetoothd has used no handle from `next` on. All handles are checked if it is `nil`.
    private func blocksOfOthers(
        in ranges: [ClosedRange<AttributeHandle>],
        before next: AttributeHandle?,
        of daemon: Daemon
    ) async throws(BusError) -> Set<HandleBlock> {
        var refused: Set<HandleBlock> = []
        for range in ranges {
            let used = (range.lowerBound.rawValue...range.upperBound.rawValue)
                .map(AttributeHandle.init(rawValue:))
                .filter { handle in next.map { handle < $0 } ?? true }
            // bluetoothd compares only the ends of a new service with existing services. Therefore each
            // handle needs a separate placeholder.
            if !used.isEmpty, try await !isFree(used, of: daemon) {
                refused.formUnion(HandleBlock.touched(by: range))
            }
        }
        return refused
    }

    /// Returns the handle that bluetoothd would choose next.
    ///
    /// bluetoothd has used no handle from this one on.
    ///
    /// - Parameters:
    ///   - last: A handle that bluetoothd uses at the same time. bluetoothd then chooses only higher handles.
    ///   - daemon: The access to bluetoothd.
    /// - Returns: The handle; `nil` if this version does not report it, or no handle is left.
    /// - Throws: `BusError`.
    private func nextHandle(
        using last: AttributeHandle? = nil,
        in daemon: Daemon
    ) async throws(BusError) -> AttributeHandle? {
        guard daemon.reportsHandles else { return nil }
        let handles = last.map { [nil, $0] } ?? [nil]
        let chosen = try await probe(handles, of: daemon).attempt(by: daemon.managers).chosen.first
        // After 0xFFFF, bluetoothd chooses 0.
        return chosen == 0 ? nil : chosen
    }

    private func isFree(_ handles: [AttributeHandle], of daemon: Daemon) async throws(BusError) -> Bool {
        for pause in Self.pauses {
            if try await probe(handles, of: daemon).attempt(by: daemon.managers).isFree { return true }
            // A program that ends during the pause detects its end at the next call.
            try? await daemon.clock.sleep(for: pause)
        }
        return try await probe(handles, of: daemon).attempt(by: daemon.managers).isFree
    }

    private func probe(_ handles: [AttributeHandle?], of daemon: Daemon) -> PlaceholderServices {
        PlaceholderServices(at: handles, root: "/probe", on: daemon.connection)
    }
}

extension UInt16 {
    fileprivate func distance(from start: UInt16) -> Int { Int(self) - Int(start) + 1 }
}

extension ClosedRange<AttributeHandle> {
    /// Returns the parts of the range outside of other ranges.
    fileprivate func without(_ others: [ClosedRange<AttributeHandle>]) -> [ClosedRange<AttributeHandle>] {
        var parts: [ClosedRange<AttributeHandle>] = []
        for number in lowerBound.rawValue...upperBound.rawValue {
            let handle = AttributeHandle(rawValue: number)
            guard !others.contains(where: { $0.contains(handle) }) else { continue }
            if let last = parts.last, last.upperBound.rawValue + 1 == number {
                parts[parts.count - 1] = last.lowerBound...handle
            } else {
                parts.append(handle...handle)
            }
        }
        return parts
    }
}

extension AttributeHandle {
    /// The last handle of a block of 16, which keeps bluetoothd out of the rest of the block.
    fileprivate var endOfBlock: AttributeHandle {
        rawValue < 0x03E0 ? AttributeHandle(rawValue: rawValue | 0xF) : self
    }
}
