internal import PeripheralKit

/// The commands to a controller that wait for their outcomes.
///
/// The table is a pure value. The controller begins the commands in order. It measures at once, but a central
/// may take 40 s to answer.
struct LinkQuestions {
    typealias Outcome = Result<LinkEvent, PeripheralError>

    /// The time after which a central that does not answer loses its link (Core Specification, Vol 6, Part B,
    /// 5.2), and a little more.
    static let limit = Duration.seconds(45)

    struct Question {
        let command: LinkCommand
        let deadline: ContinuousClock.Instant
        let answer: AsyncStream<Outcome>.Continuation
        /// Whether the controller has begun the command.
        var isBegun = false
    }

    private var questions: [Question] = []

    /// When the next command ends without an answer; `nil` if no command waits.
    var deadline: ContinuousClock.Instant? { questions.lazy.map(\.deadline).min() }

    /// Whether a command about the same property of the same link waits.
    func contains(_ command: LinkCommand) -> Bool {
        questions.contains {
            ($0.command.opcode, $0.command.connection) == (command.opcode, command.connection)
        }
    }

    /// Adds a command that was sent.
    ///
    /// - Returns: The stream of its outcome.
    mutating func add(_ command: LinkCommand, at now: ContinuousClock.Instant) -> AsyncStream<Outcome> {
        let (outcome, answer) = AsyncStream.makeStream(of: Outcome.self)
        questions.append(Question(command: command, deadline: now + Self.limit, answer: answer))
        return outcome
    }

    /// Ends the commands that have waited for too long.
    mutating func endLate(at now: ContinuousClock.Instant) {
        let message = "The controller has not answered in time."
        end(.failure(PeripheralError(code: .timedOut, message: message))) { $0.deadline <= now }
    }

    /// Ends the command that an event answers.
    mutating func take(_ event: LinkEvent) {
        switch event {
        case .began: break
        case .changed(let connection, let status, let inUse):
            // Meanwhile, the central may change the timing by itself.
            end(status == 0 ? .success(event) : .failure(.refused(status))) {
                guard case .update(connection, let units) = $0.command else { return false }
                return status != 0 || units.contain(inUse)
            }
        case .measured(let connection, let status, _):
            end(status == 0 ? .success(event) : .failure(.refused(status))) {
                $0.command == .readSignalStrength(connection: connection)
            }
        case .ended(let connection, _):
            end(.failure(.notConnected)) { $0.command.connection == connection }
        case .begun(let opcode, let status):
            guard let index = questions.firstIndex(where: { $0.command.opcode == opcode && !$0.isBegun })
            else {
                return
            }
            questions[index].isBegun = true
            let command = questions[index].command
            if status != 0 { end(.failure(.refused(status))) { $0.command == command } }
        }
    }

    /// Ends some commands with an outcome.
    mutating func end(_ outcome: Outcome, _ isMeant: (Question) -> Bool) {
        for question in questions where isMeant(question) {
            question.answer.yield(outcome)
            question.answer.finish()
        }
        questions.removeAll(where: isMeant)
    }
}

extension ConnectionPreference.Units {
    fileprivate func contain(_ parameters: ConnectionParameters) -> Bool {
        interval.contains(UInt16(clamping: Int(parameters.interval / .microseconds(1250))))
    }
}

extension PeripheralError {
    static let notConnected = PeripheralError(code: .disconnected, message: "The central is not connected.")

    /// The error for a status of the Core Specification, Vol 1, Part F.
    fileprivate static func refused(_ status: UInt8) -> PeripheralError {
        let code = "0x" + String(status, radix: 16, uppercase: true)
        return switch status {
        // An unknown command, no LE link with this handle, a feature that one of the controllers lacks.
        case 0x01, 0x02, 0x11, 0x1A:
            PeripheralError(
                code: .notSupported,
                message: "The controller or the central does not support this for the connection (\(code))."
            )
        default:
            PeripheralError(
                code: .rejected,
                message: "The central or the controller refuses the request (\(code))."
            )
        }
    }
}
