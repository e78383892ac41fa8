internal import Logging

/// Answers pairing questions with the handlers that the program has declared.
struct PairingAnswerer: Sendable {
    /// A pairing fails 30 s after the last message (Core Specification, Vol 3, Part H, 3.4).
    static let timeLimit = Duration.seconds(30)

    let pairing: Pairing
    let control: PairingControl
    let tasks: RequestTasks
    let clock: any Clock<Duration>
    let logger: Logger

    private typealias Handler = @Sendable () async throws -> BackendPairingAnswer

    /// The answer of a handler, and the reason of a refusal.
    private typealias Decision = (answer: BackendPairingAnswer, failure: PairingFailure?)

    /// Returns the handler's answer, or a refusal.
    ///
    /// A handler that ignores its cancellation does not delay the answer.
    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer {
        if let failure = await control.refusal(of: request.central) {
            logEnd(of: request, "refused, because \(failure)")
            return .reject
        }
        let (answer, failure) = await decision(on: request)
        control.answered(request.central, failure)
        // The pairing has succeeded or failed, and its end also ends the display.
        let hasEnded = request.question.isDisplay && Task.isCancelled
        let result = failure.map { "refused, because \($0)" } ?? (hasEnded ? "display ended" : "accepted")
        logEnd(of: request, result)
        return answer
    }

    private func logEnd(of request: BackendPairingRequest, _ result: String) {
        logger.debug(
            "A pairing question has ended.",
            metadata: [
                "peripheral.central": "\(request.central.address)",
                "peripheral.question": "\(request.question.name)",
                "peripheral.result": "\(result)",
            ]
        )
    }

    private func decision(on request: BackendPairingRequest) async -> Decision {
        guard let handler = handler(of: request) else {
            log(Self.refusal(by: pairing, of: request), request)
            return (.reject, .undeclaredMethod)
        }
        let (answers, answer) = AsyncStream.makeStream(of: BackendPairingAnswer.self)
        let (takenBack, takeBack) = AsyncStream.makeStream(of: Never.self)
        tasks.start("pairing", isTimed: false) { _ in
            answer.finish()
        } _: {
            answer.yield(await verdict(of: handler, on: request, until: takenBack))
            return .success([])
        }
        defer { takeBack.finish() }
        return await firstDecision(of: answers, on: request)
    }

    private func handler(of request: BackendPairingRequest) -> Handler? {
        for kind in pairing.kinds {
            if let handler = Self.handler(kind, of: request) { return handler }
        }
        return nil
    }

    private static func handler(_ kind: Pairing.Kind, of request: BackendPairingRequest) -> Handler? {
        let central = request.central
        return switch (kind, request.question) {
        case (.justWorks(nil), .authorize) where !central.isBonded:
            { .accept }
        case (.justWorks(let mayPair?), .authorize):
            { try await mayPair(central) ? .accept : .reject }
        case (.displayPasskey(let show), .displayPasskey(let passkey)):
            {
                try await show(passkey, central)
                return .accept
            }
        case (.enterPasskey(let enter), .enterPasskey):
            { try await enter(central).map(BackendPairingAnswer.passkey) ?? .reject }
        case (.confirmNumber(let isSame), .confirmNumber(let number)):
            { try await isSame(number, central) ? .accept : .reject }
        default:
            nil
        }
    }

    /// The reason why no handler is called.
    private static func refusal(by pairing: Pairing, of request: BackendPairingRequest) -> Logger.Message {
        let isJustWorksDeclared = pairing.kinds.contains { $0.method == .justWorks }
        guard isJustWorksDeclared, request.question == .authorize else {
            return "A central wants to pair in a way that is not declared. The pairing is refused."
        }
        return """
            A central that is bonded wants to pair again by Just Works. The pairing is refused, because any device could \
            do so under its address. To allow it, forget its bond, or declare Pairing.justWorks(if:).
            """
    }

    /// Waits for the answer until the time limit.
    ///
    /// If the task is cancelled, the answer is a refusal.
    ///
    /// If a handler still shows its passkey at the time limit, the answer is an acceptance, because the
    /// pairing has already ended. If the display is cancelled, the central has paired, has left, or pairs
    /// again.
    private func firstDecision(
        of answers: AsyncStream<BackendPairingAnswer>,
        on request: BackendPairingRequest
    ) async -> Decision {
        await withTaskGroup(of: BackendPairingAnswer?.self) { group in
            group.addTask {
                for await answer in answers { return answer }
                return .reject
            }
            group.addTask {
                try? await clock.sleep(for: Self.timeLimit)
                return nil
            }
            defer { group.cancelAll() }
            let answer = await group.next() ?? nil
            let isDisplay = request.question.isDisplay
            guard !Task.isCancelled else { return (answer ?? .reject, isDisplay ? nil : .cancelled) }
            if let answer { return (answer, answer == .reject ? .refused : nil) }
            if isDisplay { return (.accept, nil) }
            log(
                "A handler did not answer a pairing request within 30 seconds. The pairing is refused.",
                request
            )
            return (.reject, .unanswered)
        }
    }

    /// Runs the handler, and cancels the handler when the question is withdrawn.
    private func verdict(
        of handler: @escaping Handler,
        on request: BackendPairingRequest,
        until takenBack: AsyncStream<Never>
    ) async -> BackendPairingAnswer {
        await withTaskGroup(of: BackendPairingAnswer?.self) { group in
            group.addTask {
                do {
                    return try await checked(handler(), request)
                } catch {
                    if !(error is CancellationError && Task.isCancelled) {
                        log("A handler failed, and a central cannot pair.", request, error: error)
                    }
                    return .reject
                }
            }
            group.addTask {
                for await _ in takenBack {}
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .reject
        }
    }

    private func checked(_ answer: BackendPairingAnswer, _ request: BackendPairingRequest)
        -> BackendPairingAnswer
    {
        guard case .passkey(let passkey) = answer, passkey > 999_999 else { return answer }
        log("A handler gave a passkey of more than six digits. The pairing is refused.", request)
        return .reject
    }

    private func log(_ message: Logger.Message, _ request: BackendPairingRequest, error: (any Error)? = nil) {
        var metadata: Logger.Metadata = [
            "peripheral.central": "\(request.central.address)",
            "peripheral.question": "\(request.question.name)",
        ]
        if let error { metadata["peripheral.error"] = "\(error)" }
        logger.warning(message, metadata: metadata)
    }
}

extension BackendPairingQuestion {
    /// Whether the question only asks to show a passkey.
    fileprivate var isDisplay: Bool { if case .displayPasskey = self { true } else { false } }

    /// The question without its number, which is confidential.
    fileprivate var name: String {
        switch self {
        case .authorize: "authorize"
        case .displayPasskey: "display a passkey"
        case .enterPasskey: "enter a passkey"
        case .confirmNumber: "confirm a number"
        }
    }
}
