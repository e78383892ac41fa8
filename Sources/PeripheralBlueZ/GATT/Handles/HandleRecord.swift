internal import PeripheralCore

/// The knowledge about handles that a program keeps between registrations, even across a restart.
struct HandleRecord: Hashable, Sendable {
    /// The UUID of the services that claim blocks for the program.
    ///
    /// No other program uses this UUID. The UUID is preserved, so the Database Hash is the same after a
    /// restart.
    let claimUUID: BluetoothUUID

    /// The database in which ``checked`` is valid, which is one adapter of one run of bluetoothd.
    private(set) var database = ""

    /// The page in which ``checked`` is valid; `nil` if the database has no further page.
    ///
    /// See ``HandleReservation/turnPage(in:)``.
    private(set) var page: Int?

    /// The ranges that contain no service of another program at handles that bluetoothd has chosen.
    ///
    /// The ranges stay valid as long as the database and its page exist. The reason is that bluetoothd places
    /// such services after all handles that it has ever used.
    private(set) var checked: [ClosedRange<AttributeHandle>] = []

    init(claimUUID: BluetoothUUID = .random()) {
        self.claimUUID = claimUUID
    }

    /// Returns whether a range needs no check in a page of a database.
    func isChecked(_ range: ClosedRange<AttributeHandle>, in database: String?, page: Int?) -> Bool {
        database == self.database && page == self.page
            && checked.contains {
                $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound
            }
    }

    /// Records the ranges of the program as checked.
    mutating func setChecked(_ ranges: [ClosedRange<AttributeHandle>], in database: String, page: Int?) {
        self.database = database
        self.page = page
        checked = Array(ranges.prefix(Self.maximumCount))
    }

    /// Requires a new check of every range.
    mutating func forgetChecked() {
        (database, page, checked) = ("", nil, [])
    }

    /// The maximum number of ranges that the preserved state has room for.
    private static let maximumCount = 256
}

// MARK: - As text

extension HandleRecord {
    /// Creates a record from its ``text``; `nil` for any other text.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, let uuid = BluetoothUUID(String(words[0])) else { return nil }
        self.init(claimUUID: uuid)
        guard words[1] != "-" else { return }
        let parts = words[1].split(separator: "#")
        // The text of an earlier version has no page. Its ranges are checked again.
        guard parts.count == 2 else { return }
        database = String(parts[0])
        page = Int(parts[1])
        for word in words[2].split(separator: ",") {
            let ends = word.split(separator: "-").map { UInt16($0, radix: 16) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else { return nil }
            checked.append(AttributeHandle(rawValue: first)...AttributeHandle(rawValue: last))
        }
        guard (1...Self.maximumCount).contains(checked.count) else { return nil }
    }

    /// The record as three words: the UUID, the database with its page, and the checked ranges.
    var text: String {
        let ranges = checked.map { range in
            let ends = [range.lowerBound, range.upperBound]
            return ends.map { String($0.rawValue, radix: 16) }.joined(separator: "-")
        }
        guard !database.isEmpty, !ranges.isEmpty else { return "\(claimUUID) - -" }
        let page = page.map { "\($0)" } ?? "-"
        return "\(claimUUID) \(database)#\(page) \(ranges.joined(separator: ","))"
    }
}

extension BluetoothUUID {
    /// Returns a random UUID (RFC 9562, version 4).
    static func random() -> BluetoothUUID {
        var bits = UInt128.random(in: .min ... .max)
        bits = bits & ~(0xF << 76) | 0x4 << 76
        bits = bits & ~(0x3 << 62) | 0x2 << 62
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        // Sixteen bytes are always a UUID.
        return BluetoothUUID(littleEndian: bytes) ?? random()
    }
}
