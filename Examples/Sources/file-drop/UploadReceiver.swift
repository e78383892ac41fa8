import PeripheralKit

/// What happens to an upload, for the output of the program.
enum UploadEvent: Sendable {
    /// The file has this length. The first event of an upload has the offset from which it continues.
    case progress(FileHeader, length: UInt64)
    /// The channel has ended early, and the partial file stays.
    case interrupted(FileHeader, length: UInt64)
    /// The upload has ended. Without a header, the first packet was malformed.
    case ended(FileHeader?, UploadAnswer)
    case failed(FileFailure)
}

/// Receives files over channels, and saves them.
///
/// One packet of each upload is in memory. Further packets wait in the buffer of the channel, which is
/// limited.
final class UploadReceiver: Sendable {
    fileprivate let folder: DropFolder
    fileprivate let maximumLength: UInt64
    fileprivate let report: @Sendable (UploadEvent) -> Void
    fileprivate let active = ActiveUploads()

    init(folder: DropFolder, maximumLength: UInt64, report: @escaping @Sendable (UploadEvent) -> Void) {
        (self.folder, self.maximumLength, self.report) = (folder, maximumLength, report)
    }

    /// Receives one file.
    ///
    /// - Returns: The status of the upload; `nil` if the channel has ended early.
    /// - Throws: `CancellationError`.
    func receive(from channel: L2CAPChannel) async throws -> UploadAnswer? {
        var reception = Reception(receiver: self, channel: channel)
        defer { reception.end() }
        for await packet in channel {
            if let status = try await reception.receive(packet) { return status }
        }
        return nil
    }
}

/// One upload, with its channel and its file.
private struct Reception {
    private let receiver: UploadReceiver
    private let channel: L2CAPChannel
    private let disk = DiskQueue()
    private var upload: Upload
    private var file: PartialFile?

    init(receiver: UploadReceiver, channel: L2CAPChannel) {
        (self.receiver, self.channel) = (receiver, channel)
        upload = Upload(maximumLength: receiver.maximumLength)
    }

    /// Handles a packet.
    ///
    /// - Returns: The status, after it is sent; `nil` if the upload continues.
    mutating func receive(_ packet: [UInt8]) async throws -> UploadAnswer? {
        var steps = upload.receive(packet)[...]
        while let step = steps.popFirst() {
            if case .answer(let answer) = step {
                try await send(answer)
                if answer.isFinal { return answer }
                continue
            }
            do throws(FileFailure) {
                steps += try await perform(step)
            } catch {
                receiver.report(.failed(error))
                steps = upload.failed(error.answer)[...]
            }
        }
        return nil
    }

    private mutating func perform(_ step: Upload.Step) async throws(FileFailure) -> [Upload.Step] {
        guard let header = upload.header else { return [] }
        let folder = receiver.folder
        switch (step, file) {
        case (.open, _):
            guard await receiver.active.begin(header.name, on: channel) else { return upload.failed(.busy) }
            let content = try await disk.run { () throws(FileFailure) in try folder.open(header) }
            guard case .partial(let file, let offset, let checksum) = content else {
                return upload.alreadyComplete()
            }
            self.file = file
            return upload.opened(at: offset, checksum: checksum)
        case (.append(let bytes), let file?):
            try await disk.run { () throws(FileFailure) in try file.append(bytes) }
            receiver.report(.progress(header, length: upload.received))
        case (.complete, let file?):
            try await disk.run { () throws(FileFailure) in try folder.complete(header, file) }
        case (.discard, _):
            try await disk.run { () throws(FileFailure) in try folder.discard(header) }
        case (.append, nil), (.complete, nil), (.answer, _): break
        }
        return []
    }

    private mutating func send(_ answer: UploadAnswer) async throws {
        if answer.isFinal {
            // The central can begin its next upload as soon as it has the status.
            leave()
            receiver.report(.ended(upload.header, answer))
        } else if let header = upload.header {
            receiver.report(.progress(header, length: upload.received))
        }
        do {
            try await channel.send(answer.packet)
        } catch let error as PeripheralError where error.code == .disconnected {
            // A central that has left receives the answer when it repeats the upload.
        }
    }

    /// Releases the name and the file.
    private mutating func leave() {
        file = nil
        if let header = upload.header { receiver.active.end(header.name, on: channel) }
    }

    /// Ends the upload with its channel.
    mutating func end() {
        if !upload.hasEnded, file != nil, let header = upload.header {
            receiver.report(.interrupted(header, length: upload.received))
        }
        leave()
    }
}
