internal import PeripheralCore

/// The parts of long writes that a central has prepared, as bluetoothd stores them.
///
/// A part that continues the previous one is joined to it, so a long write is a single entry.
struct PreparedWrites: Sendable {
    struct Entry: Hashable, Sendable {
        var handle: AttributeHandle
        var offset: Int
        var value: [UInt8]
    }

    /// The largest number of entries that bluetoothd stores (`DEFAULT_MAX_PREP_QUEUE_LEN`).
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
