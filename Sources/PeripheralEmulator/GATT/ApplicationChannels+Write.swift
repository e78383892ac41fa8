internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

extension ApplicationChannels {
    /// The first version that still answers writes after a refusal.
    ///
    /// Earlier versions answered no write after a refusal.
    private static let survivingRefusals = BlueZVersion(major: 5, minor: 76)

    /// Writes through a socket if the application provides one.
    ///
    /// In that case, the offset of a long write is lost.
    func write(_ value: [UInt8], to handle: AttributeHandle, by central: Central) async -> WriteOutcome {
        let channel = characteristics[handle]?.write.first { sharing == .one || $0.central == central }
        if let channel {
            return .done(channel.socket.send(value) ? .success(()) : .failure(.unlikelyError))
        }
        guard remote.objects[handle]?.acquiresWrites == true else { return .call }
        if characteristics[handle]?.isStuck == true { return .done(.failure(.unlikelyError)) }
        return await withCheckedContinuation { continuation in
            let write = PendingWrite(value: value, continuation: continuation)
            characteristics[handle, default: Characteristic()].pendingWrites.append(write)
            guard characteristics[handle]?.pendingWrites.count == 1 else { return }
            tasks.start { await self.acquireWrite(handle, for: central) }
        }
    }

    private func acquireWrite(_ handle: AttributeHandle, for central: Central) async {
        let result: Result<[BusValue], ATTError> = await remote.request(
            "AcquireWrite",
            of: handle,
            [remote.options(of: central)],
            notPermitted: .writeNotPermitted
        )
        let writes = characteristics[handle]?.pendingWrites ?? []
        characteristics[handle]?.pendingWrites = []
        guard case .success(let answer) = result, let socket = socket(in: answer) else {
            // If the error has a meaning for a central, the write is refused. After any other error, a call
            // writes the value.
            if case .failure(let refusal) = result, refusal != .unlikelyError {
                characteristics[handle]?.isStuck = remote.version < Self.survivingRefusals
                writes.first?.continuation.resume(returning: .done(.failure(refusal)))
                return writes.dropFirst().forEach { $0.continuation.resume(returning: .call) }
            }
            return writes.forEach { $0.continuation.resume(returning: .call) }
        }
        let id = ObjectIdentifier(socket)
        socket.watch(received: nil) { [weak self] in
            self?.assumeIsolated { channels in
                channels.characteristics[handle]?.write.removeAll { ObjectIdentifier($0.socket) == id }
            }
        }
        for write in writes {
            write.continuation.resume(returning: socket.send(write.value) ? .done(.success(())) : .call)
        }
        characteristics[handle]?.write.append(Channel(central: central, socket: socket))
    }
}
