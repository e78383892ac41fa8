internal import PeripheralCore

/// Lets writes enter the streams that programs read, and records the losses in these streams.
struct WriteStreams: Sendable {
    /// A write that is about to enter its stream.
    struct Entrance {
        var buffer: WriteBuffer
        var write: WriteBuffer.Write
    }

    private let connections: ConnectionNumbers
    private let lost = LostWrites()

    init(of connections: ConnectionNumbers) {
        self.connections = connections
    }

    /// Clears the losses of a central that has disconnected.
    func forget(_ central: Central.ID) {
        lost.forget(central)
    }

    /// Returns the stream of a write, and the entry of the write.
    func entrance(of request: BackendWriteRequest, into buffer: WriteBuffer) -> Entrance {
        let write = WriteBuffer.Write(
            value: request.value,
            central: request.central,
            // By the time its write enters the buffer, the central may have disconnected or returned.
            connection: connections.number(of: request.central.id),
            followsLoss: lost.take(of: request.attribute, from: request.central.id)
        )
        return Entrance(buffer: buffer, write: write)
    }

    /// Records a write to a stream that is refused at once, if its central receives no error.
    func refused(_ request: BackendWriteRequest) {
        guard !request.expectsResponse else { return }
        lost.note(of: request.attribute, from: request.central.id)
    }

    /// Reports a lost write to the reader of the stream, if the central receives no error.
    ///
    /// The report has the position of the write in the stream.
    func reportLoss(of request: BackendWriteRequest, at entrance: Entrance) async {
        guard entrance.write.followsLoss || !request.expectsResponse else { return }
        var write = entrance.write
        (write.value, write.isLost) = ([], true)
        do {
            try await entrance.buffer.append(write)
        } catch {
            noteLoss(of: request, at: entrance)
        }
    }

    /// Records an earlier loss again if its report did not enter the stream.
    ///
    /// The write that carried the report was cancelled before its turn.
    func abandoned(_ request: BackendWriteRequest, at entrance: Entrance) {
        if entrance.write.followsLoss { noteLoss(of: request, at: entrance) }
    }

    /// Records a lost write, unless the central has disconnected in the meantime.
    private func noteLoss(of request: BackendWriteRequest, at entrance: Entrance) {
        guard connections.number(of: request.central.id) == entrance.write.connection else { return }
        lost.note(of: request.attribute, from: request.central.id)
    }
}
