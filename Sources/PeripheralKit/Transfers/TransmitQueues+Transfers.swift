internal import PeripheralCore

/// Documents among the values. Each subscriber has its own position in each document.
extension TransmitQueues {
    /// Begins a transfer.
    ///
    /// Its ticket is answered when all recipients have the document.
    mutating func begin(
        _ ticket: Ticket,
        _ document: Document,
        of characteristic: AttributeHandle,
        to recipients: UpdateRecipients,
        isStanding: Bool
    ) {
        switch queues.places(of: characteristic, to: recipients, size: 1) {
        case .failure(let error):
            outcome.answers.append((ticket, .failure(error)))
        case .success(let places):
            let characteristicIndex = queues.makeIndex(characteristic)
            transfers.append(
                Transfer(
                    ticket,
                    document,
                    characteristicIndex: characteristicIndex,
                    to: recipients,
                    isStanding: isStanding
                )
            )
            for place in places { beginPart(of: ticket, by: place) }
            finishIfDone(ticket)
        }
    }

    private mutating func beginPart(of ticket: Ticket, by place: QueueID, afterRest: Bool = false) {
        guard let index = index(of: ticket) else { return }
        var document = transfers[index].document
        document.isConfirmed = document.isConfirmed && queues.takesIndications(place)
        let cursor = ChunkCursor(document, beginsWithMarker: afterRest)
        transfers[index][place] = Transfer.Part(
            queue: place,
            isSubmitted: cursor.isAtEnd,
            isEndingRest: cursor.marksRest
        )
        transfers[index].clearFailure(queues[place].central)
        report(ticket, place, sent: 0)
        guard !cursor.isAtEnd else { return }
        put(.chunks(cursor), into: [place], for: ticket)
    }

    private func index(of ticket: Ticket) -> Int? {
        transfers.firstIndex { $0.ticket == ticket }
    }

    /// Withdraws a transfer.
    ///
    /// An end marker is sent to subscribers that already have a part of the document.
    ///
    /// - Returns: Whether the transfer existed.
    mutating func cancelTransfer(_ ticket: Ticket) -> Bool {
        guard let index = index(of: ticket) else { return false }
        let transfer = transfers.remove(at: index)
        // A chunk in flight may be the last chunk of the document.
        updatesInFlight.changeAll { if $0.ticket == ticket { $0.ticket = nil } }
        for part in transfer.parts {
            queues[part.queue].cutShort(ticket)
            withdraw(ticket, from: part.queue)
        }
        return true
    }

    // MARK: Chunks

    /// Adds an end marker at the beginning of a document if a subscriber has an unfinished part of another.
    mutating func retry(in place: QueueID, of subscribers: [SubscriberID]) {
        let characteristicIndex = queues[place].characteristicIndex
        guard queues[place].beginsWithNewDocument,
            queues.characteristics[characteristicIndex].setHasRest(false, of: subscribers)
        else {
            return
        }
        guard let ticket = queues[place].entries.first?.ticket else { return }
        queues[place].markRest(of: ticket)
        if let index = index(of: ticket) { transfers[index][place]?.isEndingRest = true }
    }

    /// Records that a chunk was submitted.
    mutating func submitted(by place: QueueID, for ticket: Ticket?) {
        guard let index = ticket.flatMap(index), var part = transfers[index][place] else { return }
        part.inFlight += 1
        part.isSubmitted = queues[place].entries.allSatisfy { $0.ticket != ticket }
        transfers[index][place] = part
    }

    /// Records that a chunk has completed, or could not be sent.
    mutating func chunkEnded(
        of ticket: Ticket,
        _ bytes: Int,
        by place: QueueID?,
        _ result: Result<Void, PeripheralError>
    ) {
        // Without a queue or a part, the document has started again meanwhile.
        guard let place, let index = index(of: ticket), var part = transfers[index][place] else { return }
        var lacking: PeripheralError?
        if case .failure(let error) = result {
            guard isLackingToSome(of: part, of: transfers[index].document, error) else {
                partFailed(part, of: ticket, error)
                return finishIfDone(ticket)
            }
            lacking = error
        }
        part.inFlight -= 1
        part.sent += bytes
        part.isEndingRest = part.isEndingRest && bytes > 0
        part.lacksConfirmation = lacking?.code == .unconfirmed
        transfers[index][place] = part
        if part.lacksConfirmation, let lacking { transfers[index].fail(nil, lacking) }
        if bytes > 0 { report(ticket, place, sent: part.sent) }
        if part.isDone, part.isToBeRepeated { beginPart(of: ticket, by: place) }
        finishIfDone(ticket)
    }

    /// Returns whether a chunk reached all subscribers that are connected and still waited for.
    ///
    /// Subscribers that do not confirm in time do not stay connected. Therefore all others have the chunk.
    /// If the next chunk is not confirmed either, possibly no subscriber has that chunk.
    private func isLackingToSome(of part: Transfer.Part, of document: Document, _ error: PeripheralError)
        -> Bool
    {
        guard queues[part.queue].central == nil, document.isConfirmed else { return false }
        return switch error.code {
        case .notSubscribed, .disconnected: true
        case .unconfirmed: !part.lacksConfirmation
        default: false
        }
    }

    /// Ends a part after a chunk that could not be sent.
    private mutating func partFailed(_ part: Transfer.Part, of ticket: Ticket, _ error: PeripheralError) {
        guard let index = index(of: ticket) else { return }
        let place = part.queue
        transfers[index][place] = nil
        withdraw(ticket, from: place)
        let mayHaveCome = part.sent > 0 || part.inFlight > 1 || error.code == .unconfirmed
        let hasRest = mayHaveCome || part.isEndingRest
        let isForAll = transfers[index].recipients == .subscribers
        switch error.code {
        // A document for all subscribers is only for connected subscribers.
        case .notSubscribed, .disconnected:
            if !isForAll { transfers[index].fail(queues[place].central, error) }
        case .notAddressable where isForAll, .unconfirmed where isForAll && queues.isNotAddressable(place):
            beginShared(ticket, with: hasRest)
        default:
            transfers[index].fail(queues[place].central, error)
            guard hasRest else { break }
            queues.characteristics[transfers[index].characteristicIndex].setHasRest(
                true,
                of: queues.subscribers(of: place)
            )
        }
    }

    /// Records that a chunk of a withdrawn document has completed, or could not be sent.
    ///
    /// If the chunk could not be sent, the next document begins with the end marker. This does not apply if
    /// the end marker itself, which has 0 bytes, has not been sent yet.
    mutating func remnantEnded(by place: QueueID, _ bytes: Int, _ result: Result<Void, PeripheralError>) {
        if case .success = result, bytes == 0 {
            queues.characteristics[queues[place].characteristicIndex].setHasRest(
                false,
                of: queues.subscribers(of: place)
            )
        }
        guard case .failure(let error) = result, ![.notSubscribed, .disconnected].contains(error.code) else {
            return
        }
        queues.characteristics[queues[place].characteristicIndex].setHasRest(
            true,
            of: queues.subscribers(of: place)
        )
    }

    /// Sends a document to all subscribers together if one of them can no longer be reached alone.
    ///
    /// An end marker ends the part of the document that a subscriber already has.
    private mutating func beginShared(_ ticket: Ticket, with hasRest: Bool) {
        guard let index = index(of: ticket),
            let shared = queues.characteristics[transfers[index].characteristicIndex].shared.first
        else {
            return
        }
        guard let part = transfers[index][shared], !part.isDone else {
            return beginPart(of: ticket, by: shared, afterRest: hasRest)
        }
        if part.hasBegun {
            transfers[index][shared]?.isToBeRepeated = true
        } else if hasRest {
            queues[shared].markRest(of: ticket)
            transfers[index][shared]?.isEndingRest = true
        }
    }

    private mutating func finishIfDone(_ ticket: Ticket) {
        guard let index = index(of: ticket), !transfers[index].isStanding,
            transfers[index].parts.allSatisfy(\.isDone)
        else { return }
        let transfer = transfers.remove(at: index)
        outcome.answers.append((ticket, transfer.failure.map { .failure($0) } ?? .success(())))
    }

    private mutating func report(_ ticket: Ticket, _ place: QueueID, sent: Int) {
        guard let index = index(of: ticket) else { return }
        let progress = TransferProgress(
            central: queues[place].central,
            sent: sent,
            total: transfers[index].document.bytes.count
        )
        outcome.progress.append((ticket, progress))
    }

    // MARK: Subscribers

    /// Begins the documents for a new subscriber.
    ///
    /// A subscriber that the stack cannot reach alone receives the rest together with the others. Then all
    /// subscribers receive the whole document again. To skip subscribers that already have the document, the
    /// stack would have to reach each subscriber alone.
    mutating func joinTransfers(
        _ subscriber: SubscribedCharacteristic.Subscriber,
        of characteristicIndex: Int
    ) {
        for transfer in transfers where transfer.characteristicIndex == characteristicIndex {
            let ticket = transfer.ticket
            switch transfer.recipients {
            case .central, .centrals:
                guard let queue = subscriber.queue.first, transfer.recipients.names(subscriber.central) else {
                    continue
                }
                guard !transfer.document.isConfirmed || subscriber.takesIndications else {
                    if let index = index(of: ticket) {
                        transfers[index].fail(subscriber.central, .notSubscribed)
                    }
                    finishIfDone(ticket)
                    continue
                }
                beginPart(of: ticket, by: queue)
            case .subscribers:
                let shared = queues.characteristics[characteristicIndex].shared.first.flatMap { transfer[$0] }
                let isSharing = shared.map { !$0.isDone } ?? false
                if let queue = subscriber.queue.first, subscriber.getsAllAlone, !isSharing {
                    beginPart(of: ticket, by: queue)
                } else {
                    beginShared(ticket, with: false)
                }
            }
        }
    }

    /// Ends the documents for a subscriber whose subscription has ended.
    ///
    /// Without an error, the central is about to subscribe again.
    mutating func leaveTransfers(
        _ central: SubscriberID,
        _ characteristicIndex: Int,
        closing idle: [QueueID],
        because error: PeripheralError?
    ) {
        for index in transfers.indices where transfers[index].characteristicIndex == characteristicIndex {
            let hasAll = idle.contains { transfers[index][$0]?.isDone ?? false }
            for place in idle { transfers[index][place] = nil }
            if let error, !hasAll, transfers[index].recipients.names(central) {
                transfers[index].fail(central, error)
            }
        }
        guard error != nil else { return }
        for transfer in transfers where transfer.characteristicIndex == characteristicIndex {
            finishIfDone(transfer.ticket)
        }
    }
}
