internal import PeripheralCore

extension PeripheralSession {
    /// Sends a document in chunks to one central and waits until the central has received it.
    ///
    /// Each chunk is an update of the characteristic. After the last chunk, the end marker follows as an
    /// update of its own, as in the transfer sample of CoreBluetooth:
    ///
    /// ```swift
    /// try await session.send(Array(text.utf8), over: transfer, to: central) { progress in
    ///     print("\(Int(progress.fraction * 100)) %")
    /// }
    /// ```
    ///
    /// The transfer is as fast as the link. Only a few chunks are in flight at a time, so memory does not
    /// grow with the document. Other characteristics take turns with the transfer.
    ///
    /// Later values of the same characteristic wait until the document is complete. This applies to
    /// ``update(_:_:to:)-(_,_,Central)`` and to another document. If the document is sent as indications, it
    /// also applies to ``indicate(_:_:to:)``. If the central subscribes again during the transfer, the
    /// document starts again.
    ///
    /// A cancelled call sends the chunks that are in flight, and then the end marker. The central therefore
    /// does not take the next update for the rest of the document. If the call is cancelled before the first
    /// chunk is in flight, nothing is sent.
    ///
    /// If a call fails while the central stays connected, the central has received a part without an end
    /// marker. The next document for this central, sent to it alone or to all, then begins with its end
    /// marker.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///     Its declared length must allow values of 1 byte up to the chunk size.
    ///   - central: A central that has subscribed to it.
    ///   - chunkSize: The maximum size of a chunk.
    ///   - endMarker: The update that follows the last chunk; `nil` for none.
    ///   - kind: Whether chunks and marker are notifications or indications. With indications, the central
    ///     confirms each one before the next is sent. That is safe even with a central that loses
    ///     notifications, but much slower.
    ///   - progress: Receives the progress, in the calling task. If there are several reports, it receives
    ///     the newest.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of these codes. For indications, also
    ///   the errors of ``indicate(_:_:to:)``.
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the transfer.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects.
    ///   - ``PeripheralError/Code/notAddressable`` or ``PeripheralError/Code/insufficientSecurity`` as for
    ///     ``notify(_:_:to:)-(_,_,Central)``.
    ///   - ``PeripheralError/Code/invalidValue`` when the chunk size or the end marker is not possible.
    ///   - ``PeripheralError/Code/notDeclared`` or ``PeripheralError/Code/stopped``.
    public func send(
        _ bytes: [UInt8],
        over characteristic: Characteristic<[UInt8]>,
        to central: Central,
        chunkSize: ChunkSize = 20,
        endMarker: EndMarker? = "EOM",
        by kind: UpdateKind = .notification,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws {
        let document = try characteristic.document(bytes, in: chunkSize, until: endMarker, by: kind)
        let handle = try documentHandle(of: characteristic, by: kind)
        try checkTakesDocuments(central, of: handle, characteristic.uuid, by: kind)
        try await runtime.updates.transfer(
            document,
            over: handle,
            to: .central(central.id),
            isStanding: false,
            progress
        )
    }

    /// Sends a document in chunks to several centrals, each at its own speed.
    ///
    /// The call returns when each central has received the document. A central that disconnects, unsubscribes
    /// or cannot be reached does not hold up the others. Its error is thrown after all others have received
    /// everything. The error is not thrown if the central has subscribed again and has received the document
    /// from the beginning.
    ///
    /// It follows the rules of ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The errors of that function, for the first central that fails. If an error is known before
    ///   the transfer begins, nothing is sent.
    public func send(
        _ bytes: [UInt8],
        over characteristic: Characteristic<[UInt8]>,
        to centrals: some Sequence<Central>,
        chunkSize: ChunkSize = 20,
        endMarker: EndMarker? = "EOM",
        by kind: UpdateKind = .notification,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws {
        let document = try characteristic.document(bytes, in: chunkSize, until: endMarker, by: kind)
        let handle = try documentHandle(of: characteristic, by: kind)
        var identities: [Central.ID] = []
        for central in centrals {
            try checkTakesDocuments(central, of: handle, characteristic.uuid, by: kind)
            identities.append(central.id)
        }
        try await runtime.updates.transfer(
            document,
            over: handle,
            to: .centrals(identities),
            isStanding: false,
            progress
        )
    }

    /// Sends a document in chunks to all subscribers, each at its own speed.
    ///
    /// The call returns when all present subscribers have received the document. A central that subscribes
    /// during the transfer receives the document from the beginning. A central that disconnects or
    /// unsubscribes no longer counts. Without subscribers, the call returns at once.
    ///
    /// Some Bluetooth stacks can reach several subscribers only together. Then the slowest subscriber sets
    /// the speed. A central that subscribes during the transfer first receives the rest, and then the whole
    /// document again, together with all others. The same may apply to single centrals, such as a bonded
    /// central that has returned. An end marker ends the part that such a central has received.
    ///
    /// With indications, each subscriber confirms its own chunks. A subscriber that is known to have asked
    /// for notifications gets notifications. Subscribers that the stack reaches only together must all
    /// confirm a chunk before the next is sent, as with ``indicate(_:_:)``. The stack may not report that one
    /// of them has unsubscribed or has asked for notifications. Then the call waits 30 s for its
    /// confirmation. The others receive the rest without a further wait, and the call throws
    /// ``PeripheralError/Code/unconfirmed`` at the end. If the others do not all confirm the next chunk
    /// either, the call throws that error then and sends no more.
    ///
    /// It follows the rules of ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The errors of that function, without those for a single central. If a connected subscriber
    ///   cannot be reached or does not confirm, the error is thrown after all others have received
    ///   everything.
    public func send(
        _ bytes: [UInt8],
        over characteristic: Characteristic<[UInt8]>,
        chunkSize: ChunkSize = 20,
        endMarker: EndMarker? = "EOM",
        by kind: UpdateKind = .notification,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws {
        let document = try characteristic.document(bytes, in: chunkSize, until: endMarker, by: kind)
        try await runtime.updates.transfer(
            document,
            over: try documentHandle(of: characteristic, by: kind),
            to: .subscribers,
            isStanding: false,
            progress
        )
    }

    /// Sends a document in chunks to each present and future subscriber until the calling task is cancelled.
    ///
    /// Each subscriber receives the document once for each time that it subscribes. To offer another
    /// document, cancel the call and call again: all subscribers then receive the new document.
    ///
    /// A central that cannot be reached receives the document when it next subscribes. An example is a bonded
    /// central that has returned and has not encrypted the link although the characteristic requires it. The
    /// same applies to a central that has not confirmed a chunk.
    ///
    /// It follows the rules of ``send(_:over:chunkSize:endMarker:by:progress:)``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when the chunk size
    ///   or the end marker is not possible, ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``; `CancellationError`.
    public func offer(
        _ bytes: [UInt8],
        over characteristic: Characteristic<[UInt8]>,
        chunkSize: ChunkSize = 20,
        endMarker: EndMarker? = "EOM",
        by kind: UpdateKind = .notification,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws {
        let document = try characteristic.document(bytes, in: chunkSize, until: endMarker, by: kind)
        try await runtime.updates.transfer(
            document,
            over: try documentHandle(of: characteristic, by: kind),
            to: .subscribers,
            isStanding: true,
            progress
        )
    }

    private func documentHandle(
        of characteristic: Characteristic<[UInt8]>,
        by kind: UpdateKind
    ) throws(PeripheralError) -> AttributeHandle {
        switch kind {
        case .notification: try updatableHandle(of: characteristic.declaration)
        case .indication: try indicatableHandle(of: characteristic.declaration)
        }
    }

    private func checkTakesDocuments(
        _ central: Central,
        of handle: AttributeHandle,
        _ characteristic: BluetoothUUID,
        by kind: UpdateKind
    ) throws(PeripheralError) {
        switch kind {
        case .notification: _ = try subscription(of: central, to: handle, characteristic)
        case .indication: try checkTakesIndications(central, of: handle, characteristic)
        }
    }
}

extension Characteristic<[UInt8]> {
    /// Creates the document of a transfer.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when the
    ///   characteristic cannot carry it.
    fileprivate func document(
        _ bytes: [UInt8],
        in chunkSize: ChunkSize,
        until endMarker: EndMarker?,
        by kind: UpdateKind
    ) throws(PeripheralError) -> Document {
        let length = declaration.length
        let problem: String? =
            if let size = chunkSize.bytes, size < 1 {
                "the chunk size is \(size); use at least 1 byte"
            } else if let count = endMarker?.bytes.count, !(2...20).contains(count) {
                "the end marker has \(count) bytes; use 2 to 20 bytes"
            } else if let count = endMarker?.bytes.count, !length.allows(count) {
                "its values may have \(length), but the end marker has \(count) bytes"
            } else if length.minimum > 1 || length.maximum < 1 {
                "its values may have \(length), but the last chunk can have only 1 byte"
            } else {
                nil
            }
        if let problem {
            throw PeripheralError(
                code: .invalidValue,
                message: "A document cannot be sent over characteristic \(uuid): \(problem)."
            )
        }
        let size = chunkSize.bytes.map { min($0, length.maximum) } ?? length.maximum
        return Document(
            bytes: bytes,
            chunkSize: size,
            endMarker: endMarker?.bytes,
            isConfirmed: kind == .indication
        )
    }
}
