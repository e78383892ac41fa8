import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct LinkQuestionsTests {
    private static let parameters = ConnectionParameters(interval: .milliseconds(30))

    private let now = ContinuousClock.now

    private static func update(_ connection: UInt16) throws -> LinkCommand {
        .update(connection: connection, try ConnectionPreference.lowLatency.units())
    }

    /// Returns the outcome of a command, or `waits` if there is none yet.
    private func outcome(of stream: AsyncStream<LinkQuestions.Outcome>) async -> String {
        for await outcome in stream {
            switch outcome {
            case .success(.changed(let connection, _, let inUse)): return "\(connection): \(inUse.interval)"
            case .success(.measured(let connection, _, let strength)): return "\(connection): \(strength)"
            case .success: return "another event"
            case .failure(let error): return "\(error.code)"
            }
        }
        return "no outcome"
    }

    @Test func aCommandEndsWithItsOwnAnswer() async throws {
        var questions = LinkQuestions()
        let first = questions.add(try Self.update(1), at: now)
        let second = questions.add(try Self.update(2), at: now)
        let strength = questions.add(.readSignalStrength(connection: 1), at: now)
        #expect(questions.contains(try Self.update(1)))
        #expect(!questions.contains(.readSignalStrength(connection: 2)))
        questions.take(.measured(connection: 2, status: 0, -40))
        questions.take(.measured(connection: 1, status: 0, -60))
        // The kernel asks for 30 to 50 ms, and the central answers that first.
        let other = ConnectionParameters(interval: .milliseconds(50))
        questions.take(.changed(connection: 2, status: 0, other))
        questions.take(.changed(connection: 2, status: 0, Self.parameters))
        questions.take(.changed(connection: 1, status: 0x3B, Self.parameters))
        #expect(await outcome(of: strength) == "1: -60")
        #expect(await outcome(of: second) == "2: \(Self.parameters.interval)")
        #expect(await outcome(of: first) == "rejected")
        #expect(questions.deadline == nil)
    }

    /// The controller begins the commands in order, and its status does not name the link.
    @Test func aStatusBelongsToTheOldestCommand() async throws {
        var questions = LinkQuestions()
        let first = questions.add(try Self.update(1), at: now)
        let second = questions.add(try Self.update(2), at: now)
        questions.take(.begun(opcode: 0x2013, status: 0))
        questions.take(.begun(opcode: 0x1405, status: 1))
        questions.take(.begun(opcode: 0x2013, status: 0x1A))
        #expect(await outcome(of: second) == "notSupported")
        questions.take(.ended(connection: 1, reason: 0x13))
        #expect(await outcome(of: first) == "disconnected")
        questions.take(.begun(opcode: 0x2013, status: 0x1A))
        #expect(questions.deadline == nil)
    }

    @Test func aCommandWithoutAnswerEndsAtItsOwnDeadline() async throws {
        var questions = LinkQuestions()
        let first = questions.add(try Self.update(1), at: now)
        let second = questions.add(try Self.update(2), at: now + .seconds(30))
        #expect(questions.deadline == now + LinkQuestions.limit)
        questions.endLate(at: now + LinkQuestions.limit)
        #expect(await outcome(of: first) == "timedOut")
        #expect(questions.contains(try Self.update(2)))
        #expect(questions.deadline == now + .seconds(30) + LinkQuestions.limit)
        questions.endLate(at: now + .seconds(30) + LinkQuestions.limit)
        #expect(await outcome(of: second) == "timedOut")
        #expect(questions.deadline == nil)
    }
}
