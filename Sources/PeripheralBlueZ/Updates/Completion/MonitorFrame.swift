/// A frame of the kernel's Bluetooth monitor channel (`struct hci_mon_hdr`).
///
/// The channel shows the traffic of a controller.
struct MonitorFrame {
    /// The kind of a frame.
    enum Kind: UInt16 {
        case adapterRemoved = 1
        case event = 3
        case sentData = 4
        /// The adapter is switched off, blocked or reset, and its links no longer exist.
        case adapterClosed = 9
    }

    /// The length of the header.
    static let headerSize = 6

    let kind: Kind
    /// The number of the adapter.
    let adapter: UInt16
    /// The bytes after the header that the filter of the socket passes.
    let payload: ArraySlice<UInt8>

    /// Reads a frame; `nil` if the frame is too short, or of a kind that does not matter for completion.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let kind = bytes.littleEndian(at: 0).flatMap(Kind.init(rawValue:)),
            let adapter = bytes.littleEndian(at: 2),
            bytes.count >= Self.headerSize
        else { return nil }
        self.kind = kind
        self.adapter = adapter
        payload = bytes.dropFirst(Self.headerSize)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the byte at an offset from the beginning; `nil` if there is no byte.
    func byte(at offset: Int) -> UInt8? {
        offset < count ? self[startIndex + offset] : nil
    }

    /// Returns the 16-bit number at an offset from the beginning; `nil` if the number is incomplete.
    func littleEndian(at offset: Int) -> UInt16? {
        guard offset + 1 < count else { return nil }
        return UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
    }
}
