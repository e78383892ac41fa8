internal import PeripheralCore

/// The places of services among the handles on the air, while services are added and removed.
///
/// Centrals cache attributes by handle. Therefore a new service does not take the place of a removed service
/// as long as another place is free, and a service that returns takes its earlier place.
struct HandleSlots {
    /// A place that a service has, or had.
    private struct Slot {
        let handles: ClosedRange<Int>
        var service: ServiceDescription
        /// The position of the removal among all removals; `nil` while the service is present.
        var removal: UInt64?
    }

    /// There is no place for a service.
    struct Full: Error, Equatable {}

    /// The first handle for services whose places the framework chooses.
    ///
    /// Lower handles are reserved for the stack, and for programs whose handles the stack assigns.
    static let first = 0x0100

    /// From this handle on, the Database Hash of some Bluetooth stacks does not change any more, for any
    /// program, until the stack restarts.
    static let endOfHash = 0x0400

    private static let end = 0x1_0000

    /// In the order of their handles.
    private var slots: [Slot] = []
    private var removals: UInt64 = 0

    /// The handles of present services, in order.
    var occupied: [ClosedRange<Int>] { slots.filter { $0.removal == nil }.map(\.handles) }

    /// Records a service at handles that are known already, for example from an earlier run.
    mutating func record(_ service: ServiceDescription, at handles: ClosedRange<Int>) {
        slots.removeAll { $0.handles.overlaps(handles) }
        insert(Slot(handles: handles, service: service))
    }

    /// Chooses the place of a service, and occupies it.
    ///
    /// 1. The place that an equal service has left.
    /// 2. The lowest place below 0x0400 that no service has had.
    /// 3. The places of removed services, beginning with the service that was removed first.
    /// 4. If permitted, the lowest free place from 0x0400 on.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - size: The number of its handles.
    ///   - allowsFrozenHash: Whether the service may have a place from 0x0400 on.
    /// - Returns: The first handle.
    /// - Throws: ``Full``.
    mutating func place(
        _ service: ServiceDescription,
        size: Int,
        allowsFrozenHash: Bool = false
    ) throws(Full) -> Int {
        if let index = slots.firstIndex(where: {
            $0.removal != nil && $0.service == service && $0.handles.count == size
        }) {
            slots[index].removal = nil
            return slots[index].handles.lowerBound
        }
        let used = slots.map(\.handles)
        var start =
            Self.gap(of: size, from: Self.first, to: Self.endOfHash, between: used) ?? takeRemoved(size)
        if start == nil, allowsFrozenHash {
            start = Self.gap(of: size, from: Self.endOfHash, to: Self.end, between: used)
        }
        guard let start else { throw Full() }
        insert(Slot(handles: start...start + size - 1, service: service))
        return start
    }

    /// Records that the service at a handle was removed.
    mutating func remove(at start: Int) {
        guard let index = slots.firstIndex(where: { $0.handles.lowerBound == start && $0.removal == nil })
        else { return }
        removals += 1
        slots[index].removal = removals
    }

    /// Forgets removed services, the first removed first, until there is a place for so many handles.
    ///
    /// - Returns: The first handle of the place; `nil` if all removed services together leave no such place.
    private mutating func takeRemoved(_ size: Int) -> Int? {
        let removed = slots.filter { $0.removal != nil && $0.handles.lowerBound < Self.endOfHash }
            .sorted { ($0.removal ?? 0) < ($1.removal ?? 0) }
        var remaining = slots
        for slot in removed {
            remaining.removeAll { $0.handles == slot.handles }
            let used = remaining.map(\.handles)
            guard let start = Self.gap(of: size, from: Self.first, to: Self.endOfHash, between: used) else {
                continue
            }
            // Only the places that the new service covers are forgotten.
            slots.removeAll { $0.removal != nil && $0.handles.overlaps(start...start + size - 1) }
            return start
        }
        return nil
    }

    /// Returns the lowest place for so many handles between occupied ranges, which are in order.
    private static func gap(
        of size: Int,
        from first: Int,
        to end: Int,
        between used: [ClosedRange<Int>]
    ) -> Int? {
        var start = first
        for range in used where range.upperBound >= start {
            guard start + size > range.lowerBound else { break }
            start = range.upperBound + 1
        }
        return start + size <= end ? start : nil
    }

    private mutating func insert(_ slot: Slot) {
        let index = slots.firstIndex { $0.handles.lowerBound > slot.handles.lowerBound } ?? slots.endIndex
        slots.insert(slot, at: index)
    }
}
