internal import PeripheralCore
internal import Synchronization

extension UpdateSender {
    /// Sends a document and waits until every recipient has received it.
    func transfer(
        _ document: Document,
        over characteristic: AttributeHandle,
        to recipients: DocumentRecipients,
        isStanding: Bool,
        _ progress: (TransferProgress) -> Void
    ) async throws {
        try Task.checkCancellation()
        let report = TransferReport()
        let ticket = try change { state throws(PeripheralError) in
            guard !state.isStopped else { throw PeripheralError.stopped }
            let ticket = state.makeTicket()
            state.transfers.append((ticket, report))
            state.queues.begin(ticket, document, of: characteristic, to: recipients, isStanding: isStanding)
            return ticket
        }
        defer {
            change { state in
                state.transfers.removeAll { $0.ticket == ticket }
                _ = state.queues.cancel(ticket)
            }
        }
        for await _ in report.signals {
            let (news, outcome) = report.take()
            news.forEach(progress)
            if let outcome { return try outcome.get() }
        }
        throw CancellationError()
    }
}
