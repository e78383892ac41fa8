internal import PeripheralCore

extension PeripheralSession {
    /// Sends a document to one central, in chunks.
    ///
    /// Each chunk is an update of the characteristic, and after the last comes the end marker as one of its own, as in the
    /// transfer sample of CoreBluetooth:
    ///
    /// ```swift
    /// try await session.send(Array(text.utf8), over: transfer, to: central) { progress in
    ///     print("\(Int(progress.fraction * 100)) %")
    /// }
    /// ```
    ///
    /// It is as fast as the link and no faster: only a few chunks at a time are on their way, and memory does not grow
    /// with the document. Other characteristics take turns with it. What ``update(_:_:to:)-(_,_,Central)`` sends by the same
    /// characteristic comes after the document, and so does another document; after one that is sent by indications, also
    /// what ``indicate(_:_:to:)`` sends. When the central subscribes anew meanwhile, the document begins anew.
    ///
    /// A call that is cancelled sends what is on its way and then the end marker, before whatever comes after the document, so
    /// that the central does not take that for the rest; one that is cancelled before its first chunk was on its way
    /// sends nothing. When a call fails while the central is there, that has a part which nothing ends, since it could not be
    /// reached; the next document for it begins with its end marker then, whether it is for this central or for all.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`, which can have
    ///     values of 1 byte up to the size of a chunk.
    ///   - central: A central that has subscribed to it.
    ///   - chunkSize: How large a chunk is at most.
    ///   - endMarker: What follows the last chunk; nothing, when `nil`.
    ///   - kind: Whether each chunk, and the marker, is confirmed by the central before the next is sent: safe also with a
    ///     central that loses notifications, and much slower.
    ///   - progress: Told in this task how far it has come: the newest, when there is more.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notSubscribed`` when the central has not
    ///   subscribed or unsubscribes meanwhile, ``PeripheralError/Code/disconnected`` when it leaves,
    ///   ``PeripheralError/Code/notAddressable`` or ``PeripheralError/Code/insufficientSecurity`` as
    ///   ``notify(_:_:to:)-(_,_,Central)`` does, ``PeripheralError/Code/invalidValue`` when chunk size or marker are not
    ///   possible, ``PeripheralError/Code/notDeclared`` or ``PeripheralError/Code/stopped``; for indications, also
    ///   as ``indicate(_:_:to:)`` does; `CancellationError`.
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

    /// Sends a document in chunks to several centrals, each with a place of its own in the document.
    ///
    /// The call returns when each has it. One that leaves or unsubscribes, or cannot be reached any more, holds up none of the
    /// others; its error is thrown when all others have everything, unless it has subscribed again by then and got the
    /// document from the beginning.
    ///
    /// Otherwise as ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: As that for the first central to which it is not possible; nothing is sent when that is known at once.
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

    /// Sends a document in chunks to all centrals that have subscribed, each with a place of its own in the document.
    ///
    /// Who subscribes meanwhile gets it from the beginning. The call returns when all have it who are subscribed; a
    /// central that leaves or unsubscribes no longer counts. When nobody has subscribed, it returns at once.
    ///
    /// Where the Bluetooth stack reaches several subscribers only together (BlueZ before 5.76, and all versions when the
    /// characteristic can be indicated), the slowest sets the speed, and who subscribes meanwhile gets the rest first, and then
    /// everything, once more with all others. Otherwise, the same holds for a bonded central that has come back, and for one to
    /// which BlueZ has lost the way when another left: a marker ends the part that it has.
    ///
    /// By indications, each subscriber confirms its own chunks. One that is known to have asked for notifications gets
    /// those. Those whom the stack reaches only together all confirm a chunk before the next is sent, as with
    /// ``indicate(_:_:)``: when BlueZ does not tell that one of them has unsubscribed, or has asked for notifications, that is
    /// waited for in vain for 30 s. The others then get the rest without a further wait, and the call throws
    /// ``PeripheralError/Code/unconfirmed`` at the end; when the next chunk is not confirmed by all others either, it throws
    /// that then, and sends no more.
    ///
    /// Otherwise as ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: As ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``, but for what tells of one
    ///   central; when one that is there cannot be reached or does not confirm, the error is thrown after all others have
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

    /// Sends a document in chunks to whoever is subscribed or subscribes, until the calling task is cancelled.
    ///
    /// Each gets it once for each time that it subscribes. To offer something else, cancel and call again: all who are
    /// subscribed then get the new document. Whom it cannot reach, a bonded central for instance that has come back and not yet
    /// encrypted although the characteristic demands that, gets it when it subscribes the next time; so does who has not
    /// confirmed a chunk.
    ///
    /// Otherwise as ``send(_:over:chunkSize:endMarker:by:progress:)``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when chunk size or marker are not
    ///   possible, ``PeripheralError/Code/notDeclared`` or ``PeripheralError/Code/stopped``; `CancellationError`.
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
    /// What a transfer sends.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when it cannot be sent so.
    fileprivate func document(
        _ bytes: [UInt8],
        in chunkSize: ChunkSize,
        until endMarker: EndMarker?,
        by kind: UpdateKind
    ) throws(PeripheralError) -> Document {
        let length = declaration.length
        let problem: String? =
            if let size = chunkSize.bytes, size < 1 {
                "chunks of \(size) bytes are not possible; the smallest have 1 byte"
            } else if let count = endMarker?.bytes.count, !(2...20).contains(count) {
                "an end marker of \(count) bytes is not possible; it has 2 to 20 bytes"
            } else if let count = endMarker?.bytes.count, !length.allows(count) {
                "its values may have \(length), the end marker has \(count) bytes"
            } else if length.minimum > 1 || length.maximum < 1 {
                "its values may have \(length); the last chunk can be as short as 1 byte"
            } else {
                nil
            }
        if let problem {
            throw PeripheralError(
                code: .invalidValue,
                message: "A document cannot be sent by characteristic \(uuid): \(problem)."
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
