/// A packet of the peripheral.
///
/// The first byte is the kind. Only `continues` has more bytes.
enum UploadAnswer: Hashable, Sendable {
    /// The central sends the file from this offset on.
    case continues(at: UInt64)
    /// The file is complete, and has the checksum of its header.
    case received
    /// The checksum is wrong. The peripheral has deleted what it received.
    case wrongChecksum
    /// The disk is full. The peripheral keeps the partial file.
    case noSpace
    case nameNotAllowed
    /// The file is longer than the peripheral permits.
    case tooLarge
    /// Another central is uploading a file of this name.
    case busy
    /// The first packet is no header, or the data is longer than the header says.
    case malformed
    /// The peripheral cannot read or write its files.
    case failed

    private static let statuses: [UInt8: UploadAnswer] = [
        1: .received, 2: .wrongChecksum, 3: .noSpace, 4: .nameNotAllowed, 5: .tooLarge, 6: .busy,
        7: .malformed, 8: .failed,
    ]

    /// Whether the answer ends the upload.
    var isFinal: Bool {
        if case .continues = self { false } else { true }
    }

    var packet: [UInt8] {
        guard case .continues(let offset) = self else {
            return Self.statuses.filter { $0.value == self }.map(\.key)
        }
        return [0] + offset.littleEndianBytes
    }

    /// Parses a packet; `nil` if it is no answer.
    init?(packet: [UInt8]) {
        if packet.count == 9, packet[0] == 0 {
            self = .continues(at: UInt64(littleEndian: packet[1...]))
        } else if packet.count == 1, let status = Self.statuses[packet[0]] {
            self = status
        } else {
            return nil
        }
    }
}

extension UploadAnswer: CustomStringConvertible {
    var description: String {
        switch self {
        case .continues(let offset): "continues at byte \(offset)"
        case .received: "received"
        case .wrongChecksum: "the checksum is wrong, so the partial file is deleted"
        case .noSpace: "no space is left; the partial file stays"
        case .nameNotAllowed: "the name is not allowed"
        case .tooLarge: "the file is too large"
        case .busy: "another upload of this name is in progress"
        case .malformed: "the upload does not follow the protocol"
        case .failed: "the file cannot be saved"
        }
    }
}
