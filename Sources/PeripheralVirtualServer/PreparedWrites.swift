internal import PeripheralCore

/// The parts of long writes that a central has prepared, as bluetoothd keeps them: a part that continues the
/// one before is joined to it at once, so that a long write is a single entry.
struct PreparedWrites: Sendable {
    struct Entry: Hashable, Sendable {
        var handle: AttributeHandle
        var offset: Int
        var value: [UInt8]
    }

    /// The most entries that bluetoothd keeps (`DEFAULT_MAX_PREP_QUEUE_LEN`).
    static let capacity = 30

    private(set) var entries: [Entry] = []

    var isFull: Bool { entries.count >= Self.capacity }

    mutating func append(_ value: [UInt8], to handle: AttributeHandle, at offset: Int) {
        if let last = entries.last, last.handle == handle, last.offset + last.value.count == offset {
            entries[entries.count - 1].value += value
        } else {
            entries.append(Entry(handle: handle, offset: offset, value: value))
        }
    }

    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }
}
