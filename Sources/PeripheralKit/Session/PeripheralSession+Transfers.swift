internal import PeripheralCore

extension PeripheralSession {
    /// Sends a document in chunks to one central and waits until the central has received it.
    ///
    /// Each chunk is an update of the characteristic. After the last chunk, the end marker follows as a
    /// separate update. The transfer sample of CoreBluetooth uses the same protocol.
    ///
    /// ```swift
    /// try await session.send(Array(text.utf8), over: transfer, to: central) { progress in
    ///     print("\(Int(progress.fraction * 100)) %")
    /// }
    /// ```
    ///
    /// The transfer is as fast as the link. Only a few chunks are in flight at a time, so the queue does not
    /// grow with the document. Updates of other characteristics are sent between the chunks.
    ///
    /// Later values of the same characteristic wait until the document is complete. This rule applies to
    /// values of ``update(_:_:to:)-(_,_,Central)`` and to other documents. If the document is sent as
    /// indications, the rule also applies to values of ``indicate(_:_:to:)``. If the central subscribes again
    /// during the transfer, the transfer starts again.
    ///
    /// If the call is cancelled, the chunks in flight are still sent, followed by the end marker. The central
    /// therefore does not mistake the next update for the rest of the document. If the call is cancelled
    /// before the first chunk is in flight, neither a chunk nor the end marker is sent.
    ///
    /// If a call fails while the central stays connected, the central may have received a part of the
    /// document without an end marker. In this case, the next transfer to this central begins with an
    /// additional end marker, even if it is a transfer to all subscribers.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///     The declared length of the characteristic must allow values of 1 byte up to the chunk size.
    ///   - central: A central that has subscribed to the characteristic.
    ///   - chunkSize: The maximum size of a chunk.
    ///   - endMarker: The update that follows the last chunk; `nil` for no end marker.
    ///   - kind: Whether the chunks and the marker are notifications or indications. With indications, the
    ///     central confirms each chunk before the next chunk is sent. Indications are much slower, but
    ///     reliable even for a central that loses notifications.
    ///   - progress: A closure that receives the progress, in the calling task. If several reports are
    ///     waiting, the closure receives only the newest report.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of these codes. With indications, the
    ///   function also throws the errors of ``indicate(_:_:to:)``.
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed, or unsubscribes during
    ///     the transfer.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects.
    ///   - ``PeripheralError/Code/notAddressable`` or ``PeripheralError/Code/insufficientSecurity`` in the
    ///     same cases as ``notify(_:_:to:)-(_,_,Central)``.
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
    /// or cannot be reached does not delay the other centrals. The error for such a central is thrown after
    /// all other centrals have received the document. No error is thrown if the central subscribes again and
    /// receives the whole document.
    ///
    /// The transfer follows the rules of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The errors of that function, for the first central that fails. If an error is known before
    ///   the transfer begins, no central receives any chunk.
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
    /// during the transfer receives the document from the beginning. The call does not wait for a central
    /// that disconnects or unsubscribes. Without subscribers, the call returns at once.
    ///
    /// Some Bluetooth stacks can reach several subscribers only together. With such a stack, the slowest
    /// subscriber determines the speed. A central that subscribes during the transfer first receives the rest
    /// of the document. Then all subscribers receive the whole document again. The same rule may apply to
    /// single centrals, such as a bonded central that has returned. If such a central has received a part of
    /// the document, an end marker ends that part.
    ///
    /// With indications, each subscriber confirms the chunks separately. A subscriber that is known to have
    /// asked for notifications receives notifications.
    ///
    /// If the stack reaches several subscribers only together, all these subscribers must confirm a chunk
    /// before the next chunk is sent, as with ``indicate(_:_:)``. The stack may not report that one of these
    /// subscribers has unsubscribed or has asked for notifications. In this case, the call waits 30 s for the
    /// confirmation of that subscriber. The other subscribers then receive the rest of the document without a
    /// further wait. At the end, the call throws ``PeripheralError/Code/unconfirmed``. If one of the other
    /// subscribers does not confirm the next chunk either, the call throws that error at once and sends no
    /// further chunks.
    ///
    /// The transfer follows the rules of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The errors of that function, except the errors that concern a single central. If a connected
    ///   subscriber cannot be reached or does not confirm, the error is thrown after all other subscribers
    ///   have received the document.
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
    /// document, cancel the call and call the function again. All subscribers then receive the new document.
    ///
    /// A central that cannot be reached receives the document when it next subscribes. For example, a bonded
    /// central cannot be reached if it has returned and has not encrypted the link although the
    /// characteristic requires encryption. The same rule applies to a central that has not confirmed a chunk.
    ///
    /// The transfer follows the rules of ``send(_:over:chunkSize:endMarker:by:progress:)``.
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
