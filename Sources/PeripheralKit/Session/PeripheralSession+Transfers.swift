public import PeripheralCore

extension PeripheralSession {
    /// Sends a document in chunks to one central.
    ///
    /// The function waits until the central has received the document.
    ///
    /// Each chunk is one update of the characteristic. After the last chunk, the session sends the end marker
    /// as a separate update. Apple's transfer sample for CoreBluetooth uses the same protocol.
    ///
    /// ```swift
    /// try await session.send(Array(text.utf8), over: transfer, to: central) { progress in
    ///     print("\(Int(progress.fraction * 100)) %")
    /// }
    /// ```
    ///
    /// The speed of the link determines the speed of the transfer. The session passes only a few chunks to
    /// the Bluetooth stack at a time. The length of the queue therefore does not depend on the size of the
    /// document. Between the chunks of a document, the session can send updates of other characteristics.
    ///
    /// Values from later calls to ``update(_:_:to:fallback:)-(_,_,Central,_)`` for the same characteristic
    /// wait until the document is complete. A second document for the same characteristic waits until the
    /// first document is complete. If the session sends the document as indications, the value of each call
    /// to ``indicate(_:_:to:)`` waits until the document is complete. If the central subscribes again during
    /// the transfer, the session restarts the transfer from the beginning.
    ///
    /// After a cancellation, the Bluetooth stack still sends the chunks that it has already accepted. After
    /// these chunks, the session sends the end marker. The end marker prevents the central from mistaking the
    /// next update for the rest of the document. If the call is cancelled before the session has passed the
    /// first chunk to the Bluetooth stack, the session sends no chunk and no end marker.
    ///
    /// If a call fails while the central stays connected, the central may have received a part of the
    /// document without an end marker. In this case, the session sends an end marker to the central before
    /// the first chunk of the next document. The central receives the end marker even if the session sends
    /// the next document to all subscribers.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///     The declared length of the characteristic must allow every length from 1 byte to the chunk size.
    ///   - central: A central that has subscribed to the characteristic.
    ///   - chunkSize: The maximum size of a chunk.
    ///   - endMarker: The update that follows the last chunk, or `nil` for no end marker.
    ///   - kind: Whether the session sends the chunks and the end marker as notifications or as indications.
    ///     With indications, the central confirms each chunk before the next chunk is sent. Indications are
    ///     much slower than notifications. Indications are reliable even if the central loses notifications.
    ///   - progress: A closure that receives the progress of the transfer. The calling task runs the progress
    ///     closure. While the closure is running, the progress can change several times. The next call to the
    ///     closure receives only the newest progress.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of the following codes. With
    ///   indications, the function also throws the errors of ``indicate(_:_:to:)``.
    ///   - ``PeripheralError/Code/notSubscribed`` when the central has not subscribed. The error also occurs
    ///     when the central unsubscribes during the transfer.
    ///   - ``PeripheralError/Code/disconnected`` when the central disconnects.
    ///   - ``PeripheralError/Code/notAddressable`` or ``PeripheralError/Code/insufficientSecurity`` in the
    ///     same cases as ``notify(_:_:to:fallback:)``.
    ///   - ``PeripheralError/Code/invalidValue`` when the chunk size or the end marker is invalid.
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

    /// Sends a document in chunks to several centrals.
    ///
    /// The session sends the document to each central at the speed of that central's link.
    ///
    /// The function returns when each central has received the document. If the transfer to one central
    /// fails, the other centrals are not delayed. A transfer fails if the central disconnects, unsubscribes
    /// or cannot be reached. The function throws the error of a failed transfer after all other centrals have
    /// received the document. The function throws no error for a central that subscribes again and receives
    /// the whole document.
    ///
    /// The transfer follows the rules of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The function throws the error of the first transfer that fails. If the function detects an
    ///   error before the transfer begins, no central receives a chunk.
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

    /// Sends a document in chunks to all subscribers.
    ///
    /// The session sends the document to each subscriber at the speed of that subscriber's link.
    ///
    /// The function returns when all current subscribers have received the document. A central that
    /// subscribes during the transfer receives the document from the beginning. The function does not wait
    /// for a central that disconnects or unsubscribes. If the characteristic has no subscribers, the function
    /// returns immediately.
    ///
    /// Some Bluetooth stacks can send a value only to all subscribers together. In a shared transfer to all
    /// subscribers, the slowest subscriber determines the speed. A central that subscribes during a shared
    /// transfer misses the first chunks of the document, and receives only the remaining chunks. After the
    /// remaining chunks, the session sends the whole document to all subscribers again.
    ///
    /// Sometimes, the Bluetooth stack can no longer send values separately to one of the subscribers, for
    /// example to a bonded central that has reconnected. In this case, the session can send the document to
    /// all subscribers together. If a central has received only a part of the document, the session sends an
    /// end marker after that part.
    ///
    /// With indications, each subscriber confirms the chunks independently of the other subscribers. If the
    /// session knows that a subscriber has asked for notifications, the session sends notifications instead
    /// of indications to that subscriber.
    ///
    /// If the Bluetooth stack sends indications to all subscribers together, the session pauses after each
    /// chunk. The session sends the next chunk when all subscribers have confirmed the previous chunk. The
    /// function ``indicate(_:_:)`` also waits until all subscribers have confirmed the indication. The
    /// Bluetooth stack might not report the end of a subscription. The Bluetooth stack also might not report
    /// that a subscriber has asked for notifications instead of indications. If a subscriber does not confirm
    /// a chunk, the function waits for 30 s. After this wait, the other subscribers receive the remaining
    /// chunks without further delay. After the function has sent the whole document, the function throws
    /// ``PeripheralError/Code/unconfirmed``. If another subscriber also stops confirming, the function sends
    /// no further chunks and immediately throws ``PeripheralError/Code/unconfirmed``.
    ///
    /// The transfer follows the rules of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// - Throws: The same errors as for a transfer to a single central, except
    ///   ``PeripheralError/Code/notSubscribed`` and ``PeripheralError/Code/disconnected``. A connected
    ///   subscriber might be unreachable, or might not confirm a chunk. The function throws the error for
    ///   this subscriber after the transfers to all other subscribers are complete.
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

    /// Sends a document in chunks to each present and future subscriber.
    ///
    /// The transfer continues until the calling task is cancelled.
    ///
    /// Each subscriber receives the document once for each subscription. To offer another document, cancel
    /// the calling task and call the function again. All current subscribers receive the new document.
    ///
    /// A central that cannot be reached receives the document after it subscribes again. For example, a
    /// characteristic can require encryption. After a bonded central has reconnected, the session cannot
    /// reach this central until the link is encrypted. If a central does not confirm a chunk, the central
    /// receives the whole document after it subscribes again.
    ///
    /// The transfer follows the rules of ``send(_:over:chunkSize:endMarker:by:progress:)``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when the chunk size
    ///   or the end marker is invalid. The other possible errors are ``PeripheralError`` with the code
    ///   ``PeripheralError/Code/notDeclared`` or ``PeripheralError/Code/stopped``, and `CancellationError`.
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

// MARK: - Received documents

extension PeripheralSession {
    /// Returns the documents that centrals write to a characteristic in chunks.
    ///
    /// Each document ends with an end marker. The function is the receiving counterpart of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// ```swift
    /// let upload = Characteristic<[UInt8]>("5c3a0008-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
    ///     WriteStream()
    /// }
    /// for await document in try session.documents(writtenTo: upload) {
    ///     print("\(document.central.address) has sent \(document.bytes.count) bytes")
    /// }
    /// ```
    ///
    /// If a central sends writes without response faster than the program consumes them, writes can be lost
    /// (see ``WriteStream``). The document does not contain the data of lost writes. After a lost write,
    /// ``ReceivedDocument/isComplete`` is `false`. If the program needs every byte, declare the property
    /// `.write` without `.writeWithoutResponse`.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with a ``WriteStream``.
    ///   - endMarker: The write that follows the last chunk of a document. A chunk that is equal to the end
    ///     marker also ends the document.
    ///   - maximumSize: The maximum size of a document, in bytes. The session can use this amount of memory
    ///     for each central that writes a document.
    /// - Returns: A sequence of documents. The documents consist of the received writes that no task has read
    ///   yet, and of all further writes until the session ends.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when the end marker
    ///   has fewer than 2 or more than 20 bytes. The other possible codes are
    ///   ``PeripheralError/Code/notDeclared`` and ``PeripheralError/Code/stopped``.
    public func documents(
        writtenTo characteristic: Characteristic<[UInt8]>,
        endMarker: EndMarker = "EOM",
        maximumSize: Int = 65_536
    ) throws(PeripheralError) -> ReceivedDocuments {
        guard (2...20).contains(endMarker.bytes.count) else {
            throw PeripheralError(
                code: .invalidValue,
                message:
                    "The end marker has \(endMarker.bytes.count) bytes. Use 2 to 20 bytes."
            )
        }
        return ReceivedDocuments(
            buffer: try writes(to: characteristic).buffer,
            connections: runtime.connections,
            assembly: DocumentAssembly(until: endMarker.bytes, maximumSize: max(maximumSize, 0))
        )
    }
}

// MARK: - Received writes

extension PeripheralSession {
    /// Returns the writes from centrals to a characteristic.
    ///
    /// - Parameter characteristic: A characteristic of the session's peripheral with a ``WriteStream``.
    /// - Returns: A sequence of writes. The sequence starts with the received writes that no task has read
    ///   yet. Further writes follow until the session ends.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` if the characteristic
    ///   has no ``WriteStream`` or is not part of the peripheral. ``PeripheralError`` with the code
    ///   ``PeripheralError/Code/stopped`` if the session has ended.
    public func writes<Value>(
        to characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> ReceivedWrites<Value> {
        try runtime.checkIsRunning()
        guard let buffer = runtime.writeBuffer(of: try runtime.valueHandle(of: characteristic.declaration))
        else {
            throw PeripheralError(
                code: .notDeclared,
                message:
                    "Characteristic \(characteristic.uuid) has no WriteStream. Declare a WriteStream instead of Write."
            )
        }
        return ReceivedWrites(buffer: buffer)
    }
}
