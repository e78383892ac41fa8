/// The peripheral's side of one upload, without input and output.
///
/// 1. The central sends a ``FileHeader``.
/// 2. The peripheral answers from which offset it wants the file: 0, or the length of its partial file.
/// 3. The central sends the file from there, in packets of any length.
/// 4. The peripheral answers with a status, and closes the channel.
///
/// A refusal is a status instead of the offset. A status can also arrive before the last data, for example
/// when the disk is full.
struct Upload {
    /// What the peripheral must do next.
    enum Step: Equatable {
        /// Find what is there of the file, and call ``opened(at:checksum:)``, ``alreadyComplete()`` or
        /// ``failed(_:)``.
        case open
        case append([UInt8])
        /// Give the partial file its name.
        case complete
        /// Delete the partial file.
        case discard
        case answer(UploadAnswer)
    }

    private enum Phase {
        case header
        case opening
        case data(checksum: CRC32)
        case ended
    }

    private let maximumLength: UInt64
    private var phase = Phase.header
    /// The header; `nil` before a packet with a well-formed header.
    private(set) var header: FileHeader?
    /// The length of the file so far, including an earlier part.
    private(set) var received: UInt64 = 0

    /// - Parameter maximumLength: The length of the longest file that the peripheral accepts.
    init(maximumLength: UInt64) {
        self.maximumLength = maximumLength
    }

    /// Whether the peripheral has sent its status.
    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    /// Handles a packet of the central.
    mutating func receive(_ packet: [UInt8]) -> [Step] {
        switch phase {
        case .header:
            guard let header = FileHeader(packet: packet) else { return end(.malformed) }
            self.header = header
            guard header.hasAllowedName else { return end(.nameNotAllowed) }
            guard header.length <= maximumLength else { return end(.tooLarge) }
            phase = .opening
            return [.open]
        case .data(var checksum):
            guard let header, UInt64(packet.count) <= header.length - received else {
                return [.discard] + end(.malformed)
            }
            received += UInt64(packet.count)
            checksum.append(packet)
            phase = .data(checksum: checksum)
            return [.append(packet)] + stepsAtEnd(of: header, checksum)
        case .opening, .ended: return []
        }
    }

    /// Continues after a partial file.
    ///
    /// - Parameters:
    ///   - offset: The length of the partial file; 0 for a new file.
    ///   - checksum: The checksum of the partial file.
    /// - Returns: The next steps.
    mutating func opened(at offset: UInt64, checksum: CRC32) -> [Step] {
        guard case .opening = phase, let header else { return [] }
        guard offset <= header.length else { return [.discard] + end(.failed) }
        received = offset
        phase = .data(checksum: checksum)
        return [.answer(.continues(at: offset))] + stepsAtEnd(of: header, checksum)
    }

    /// Ends the upload of a file that the peripheral has.
    ///
    /// The central may have lost the connection before the status of its last upload arrived.
    mutating func alreadyComplete() -> [Step] {
        guard case .opening = phase, let header else { return [] }
        received = header.length
        return [.answer(.continues(at: header.length))] + end(.received)
    }

    /// Ends the upload because a step has failed.
    mutating func failed(_ answer: UploadAnswer) -> [Step] { end(answer) }

    private mutating func stepsAtEnd(of header: FileHeader, _ checksum: CRC32) -> [Step] {
        guard received == header.length else { return [] }
        return checksum.value == header.checksum
            ? [.complete] + end(.received) : [.discard] + end(.wrongChecksum)
    }

    private mutating func end(_ answer: UploadAnswer) -> [Step] {
        phase = .ended
        return [.answer(answer)]
    }
}
