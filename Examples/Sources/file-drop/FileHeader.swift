/// The first packet of an upload: the name, the length and the checksum of the file.
struct FileHeader: Sendable {
    let name: String
    /// The length of the whole file in bytes.
    let length: UInt64
    /// The CRC-32 of the whole file.
    let checksum: UInt32

    init(name: String, length: UInt64, checksum: UInt32) {
        (self.name, self.length, self.checksum) = (name, length, checksum)
    }

    /// The number of bytes around the name.
    private static let fixedLength = 1 + 8 + 4

    /// Parses a packet; `nil` if it is no header, or if the name is not UTF-8.
    init?(packet: [UInt8]) {
        guard let nameLength = packet.first.map(Int.init), packet.count == Self.fixedLength + nameLength,
            let name = String(validating: packet[1...].prefix(nameLength), as: UTF8.self)
        else { return nil }
        let numbers = packet[(1 + nameLength)...]
        self.name = name
        length = UInt64(littleEndian: numbers.prefix(8))
        checksum = UInt32(littleEndian: numbers.dropFirst(8))
    }

    /// The header as a packet, for a name of at most 255 bytes.
    var packet: [UInt8] {
        [UInt8(truncatingIfNeeded: name.utf8.count)] + Array(name.utf8) + length.littleEndianBytes
            + checksum.littleEndianBytes
    }

    /// Whether the peripheral saves a file of this name.
    ///
    /// The endings of ``DropFolder`` are for partial files. Control characters could disturb a terminal that
    /// lists the files.
    var hasAllowedName: Bool { Self.isAllowed(name) }

    static func isAllowed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return (1...64).contains(bytes.count) && bytes[0] != UInt8(ascii: ".")
            && !bytes.contains(UInt8(ascii: "/"))
            && !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
            && !DropFolder.reservedEndings.contains { bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Reads a number, least significant byte first.
    init(littleEndian bytes: some Collection<UInt8>) {
        self = bytes.reversed().reduce(0) { $0 << 8 | Self($1) }
    }

    var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
