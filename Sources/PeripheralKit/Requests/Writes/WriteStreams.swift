internal import PeripheralCore

/// The characteristics whose writes the program reads as a stream, and which writes are lacking there.
struct WriteStreams: Sendable {
    /// A write that is to be put into its stream.
    struct Entrance {
        var buffer: WriteBuffer
        var write: WriteBuffer.Write
    }

    private let buffers: [AttributeHandle: WriteBuffer]
    private let connections: ConnectionNumbers
    private let lost = LostWrites()

    init(_ buffers: [AttributeHandle: WriteBuffer], of connections: ConnectionNumbers) {
        (self.buffers, self.connections) = (buffers, connections)
    }

    /// The writes to a characteristic; `nil` when they are no stream.
    func buffer(of characteristic: AttributeHandle) -> WriteBuffer? {
        buffers[characteristic]
    }

    /// Takes no more writes.
    func finish() {
        for buffer in buffers.values { buffer.finish() }
    }

    /// Takes note that a central is gone.
    func forget(_ central: Central.ID) {
        lost.forget(central)
    }

    /// Where a write goes that is of a stream, and as what; `nil` when it is not.
    func entrance(of request: WriteRequest) -> Entrance? {
        guard let buffer = buffers[request.attribute] else { return nil }
        let write = WriteBuffer.Write(
            value: request.value,
            central: request.central,
            // It may be gone, or back, when its write is in the buffer.
            connection: connections.number(of: request.central.id),
            followsLoss: lost.take(of: request.attribute, from: request.central.id)
        )
        return Entrance(buffer: buffer, write: write)
    }

    /// Takes note of a write that is refused at once, of which who reads the stream is told when its central is not.
    func refused(_ request: WriteRequest) {
        guard !request.expectsResponse, buffers[request.attribute] != nil else { return }
        lost.note(of: request.attribute, from: request.central.id)
    }

    /// Tells who reads a stream of a write that is lost there, in its place, when nobody else is told.
    func tellLoss(of request: WriteRequest, at entrance: Entrance) async {
        guard entrance.write.followsLoss || !request.expectsResponse else { return }
        var write = entrance.write
        (write.value, write.isLost) = ([], true)
        do {
            try await entrance.buffer.append(write)
        } catch {
            noteLoss(of: request, at: entrance)
        }
    }

    /// Takes note that a loss before a write was not told with it, since the write never came to its turn.
    func abandoned(_ request: WriteRequest, at entrance: Entrance) {
        if entrance.write.followsLoss { noteLoss(of: request, at: entrance) }
    }

    /// Takes note of a lost write of a central that has not left since.
    private func noteLoss(of request: WriteRequest, at entrance: Entrance) {
        guard connections.number(of: request.central.id) == entrance.write.connection else { return }
        lost.note(of: request.attribute, from: request.central.id)
    }
}
