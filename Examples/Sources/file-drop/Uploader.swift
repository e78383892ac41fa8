import PeripheralTesting

/// The central's side of an upload, over an open channel.
struct Uploader {
    /// The peripheral does not follow the protocol, or has closed the channel without a status.
    struct ProtocolError: Error {}

    let header: FileHeader
    let bytes: [UInt8]

    init(name: String, bytes: [UInt8]) {
        header = FileHeader(name: name, length: UInt64(bytes.count), checksum: CRC32(bytes).value)
        self.bytes = bytes
    }

    /// Sends the header.
    ///
    /// - Returns: The offset from which the peripheral wants the file, or a refusal.
    func begin(over channel: any TestChannel) async throws -> UploadAnswer {
        try await channel.send(header.packet)
        return try await answer(over: channel)
    }

    /// Sends a part of the file, in packets of the maximum length.
    func send(_ part: Range<Int>, over channel: any TestChannel) async throws {
        for start in stride(from: part.lowerBound, to: part.upperBound, by: channel.sendMTU) {
            let end = min(start + channel.sendMTU, part.upperBound)
            try await channel.send(Array(bytes[start..<end]))
        }
    }

    /// Uploads the file, or the rest of it.
    ///
    /// - Returns: The status.
    func upload(over channel: any TestChannel) async throws -> UploadAnswer {
        let answer = try await begin(over: channel)
        guard case .continues(let offset) = answer else { return answer }
        return try await finish(from: Int(clamping: offset), over: channel)
    }

    /// Sends the rest of the file from an offset.
    ///
    /// - Returns: The status.
    func finish(from offset: Int, over channel: any TestChannel) async throws -> UploadAnswer {
        guard offset <= bytes.count else { throw ProtocolError() }
        do {
            try await send(offset..<bytes.count, over: channel)
        } catch let error as TestCentralError where error.code == .disconnected {
            // The status explains why the peripheral has closed the channel.
        }
        return try await answer(over: channel)
    }

    private func answer(over channel: any TestChannel) async throws -> UploadAnswer {
        guard let packet = try await channel.receive(), let answer = UploadAnswer(packet: packet) else {
            throw ProtocolError()
        }
        return answer
    }
}
