import Logging
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct RequestTasksTests {
    private typealias BackendAnswer = Result<[UInt8], ATTError>

    private let clock = ManualClock()
    private let answers = Log<BackendAnswer>()
    private let tasks: RequestTasks

    init() {
        tasks = RequestTasks(clock: clock, logger: Logger(label: "test"))
    }

    /// Keeps time while the body runs.
    private func keepingTime(_ body: @Sendable () async throws -> Void) async rethrows {
        try await withThrowingTaskGroup { group in
            group.addTask { await tasks.runDeadlines() }
            try await body()
            group.cancelAll()
        }
        await tasks.end()
    }

    /// A handler that waits until its task is cancelled.
    private func hang() async {
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
    }

    @Test func aHandlersAnswerIsDelivered() async {
        await keepingTime {
            tasks.start("a", isTimed: true, deliver: answers.append) { .success([7]) }
            await tasks.untilAnswered()
            #expect(answers.entries == [.success([7])])
        }
        #expect(answers.entries.count == 1)
    }

    @Test func aLateHandlerIsAnsweredForAndCancelled() async {
        let ended = Log<Bool>()
        await keepingTime {
            tasks.start("a", isTimed: true, deliver: answers.append) {
                await hang()
                ended.append(Task.isCancelled)
                return .success([7])
            }
            await clock.waitForSleeper()
            clock.advance(by: RequestTasks.timeLimit - .milliseconds(1))
            #expect(answers.entries.isEmpty)
            clock.advance(by: .milliseconds(1))
            await tasks.untilAnswered()
            await ended.untilNotEmpty()
        }
        #expect(answers.entries == [.failure(.unlikelyError)])
        #expect(ended.entries == [true])
    }

    // MARK: The log of a late handler

    private static let late =
        "warning: A handler did not answer within 4 seconds. The request is refused with 'unlikely error', and the "
        + "handler is cancelled."

    /// Returns the first line about a handler that is late.
    private func line(
        of handler: @escaping @Sendable () async -> Void,
        pace: HandlerPace = HandlerPace(),
        untilRunning: () async -> Void = {}
    ) async -> String? {
        let log = LogRecorder()
        let tasks = RequestTasks(clock: clock, logger: log.logger)
        let answers = Log<BackendAnswer>()
        let keeping = Task { await tasks.runDeadlines() }
        let central = Central.ID(address: .numbered(1))
        tasks.start(
            "characteristic 2a19",
            "read",
            by: central,
            isTimed: true,
            pace: pace,
            deliver: answers.append
        ) {
            await handler()
            return .success([7])
        }
        await untilRunning()
        await clock.waitForSleeper()
        clock.advance(by: RequestTasks.timeLimit)
        await answers.untilNotEmpty()
        keeping.cancel()
        await keeping.value
        await tasks.end()
        return log.lines.first
    }

    @Test func aHandlerThatAwaitsIsLogged() async {
        // The call of a quick handler returns when the handler has suspended.
        let line = await line(of: { [self] in await hang() }, pace: quickPace())
        #expect(
            line
                == "\(Self.late) [characteristic 2a19; C0:FF:EE:00:00:01; read; It still awaits something. Answer with a "
                + "value that is already known, and do slow work outside of the handler.]"
        )
    }

    @Test func aHandlerThatBlocksItsThreadIsLogged() async {
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let ended = Log<Void>()
        let line = await line {
            begin.yield()
            // The cancellation reaches even a handler that does not suspend.
            while !Task.isCancelled {}
            ended.append(())
        } untilRunning: {
            for await _ in began { break }
        }
        #expect(
            line
                == "\(Self.late) [characteristic 2a19; C0:FF:EE:00:00:01; read; It blocks its thread. Use await instead "
                + "of calls that block.]"
        )
        #expect(ended.entries.count == 1)
    }

    @Test func aHandlerThatBlocksTheDeliveringThreadIsLogged() {
        let log = LogRecorder()
        let tasks = RequestTasks(clock: clock, logger: log.logger)
        let request = RunningRequest(name: "characteristic 2a19", operation: "write", by: nil) { _ in }
        tasks.reportBlocking(by: request)
        #expect(
            log.lines == [
                "warning: A handler blocked its thread for more than 4 seconds. Other requests had to wait. Use await "
                    + "instead of calls that block. [characteristic 2a19; write]"
            ]
        )
    }

    /// Without the timekeeper, as while handlers block all threads.
    @Test(arguments: [false, true])
    func aHandlerThatBlocksAllThreadsIsRefused(isQuick: Bool) async {
        let log = LogRecorder(from: .debug)
        let tasks = RequestTasks(clock: clock, logger: log.logger)
        tasks.start(
            "characteristic 2a19",
            "read",
            isTimed: true,
            pace: isQuick ? quickPace() : HandlerPace(),
            deliver: answers.append
        ) { [self] in
            clock.advance(by: RequestTasks.timeLimit)
            return .success([7])
        }
        await tasks.end()
        #expect(answers.entries == [.failure(.unlikelyError)])
        #expect(
            log.lines == [
                "\(Self.late) [characteristic 2a19; read; No thread was free to refuse it earlier. Use await instead of "
                    + "calls that block.]",
                "debug: The handler of a refused request has ended. Its answer is dropped. "
                    + "[characteristic 2a19; read]",
            ]
        )
    }

    @Test func aCommandThatBlocksAllThreadsIsNotRefused() async {
        tasks.start("a", isTimed: false, deliver: answers.append) { [self] in
            clock.advance(by: RequestTasks.timeLimit)
            return .success([7])
        }
        await tasks.end()
        #expect(answers.entries == [.success([7])])
    }

    // MARK: Time

    @Test func eachAnswerHasItsOwnTime() async {
        await keepingTime {
            tasks.start("first", isTimed: true, deliver: answers.append) { [self] in
                await hang()
                return .success([1])
            }
            await clock.waitForSleeper()
            clock.advance(by: .seconds(3))
            let second = Log<BackendAnswer>()
            tasks.start("second", isTimed: true, deliver: second.append) { [self] in
                await hang()
                return .success([2])
            }
            clock.advance(by: .seconds(1))
            await answers.untilNotEmpty()
            #expect(answers.entries == [.failure(.unlikelyError)])
            #expect(second.entries.isEmpty)
            await clock.waitForSleeper()
            clock.advance(by: .seconds(3))
            await second.untilNotEmpty()
            #expect(second.entries == [.failure(.unlikelyError)])
        }
    }

    @Test func timeIsKeptAgainAfterAllWasAnswered() async {
        let (go, goOn) = AsyncStream.makeStream(of: Void.self)
        await keepingTime {
            tasks.start("first", isTimed: true, deliver: answers.append) {
                for await _ in go { break }
                return .success([1])
            }
            await clock.waitForSleeper()
            goOn.yield()
            await tasks.untilAnswered()
            clock.advance(by: RequestTasks.timeLimit)
            let second = Log<BackendAnswer>()
            tasks.start("second", isTimed: true, deliver: second.append) { [self] in
                await hang()
                return .success([2])
            }
            await clock.waitForSleeper()
            clock.advance(by: RequestTasks.timeLimit)
            await second.untilNotEmpty()
            #expect(second.entries == [.failure(.unlikelyError)])
        }
    }

    @Test func whatNobodyWaitsForMayTakeItsTime() async {
        let (go, goOn) = AsyncStream.makeStream(of: Void.self)
        await keepingTime {
            tasks.start("command", isTimed: false, deliver: answers.append) {
                for await _ in go { break }
                return Task.isCancelled ? .failure(.unlikelyError) : .success([7])
            }
            tasks.start("request", isTimed: true, deliver: { (_: BackendAnswer) in }) { [self] in
                await hang()
                return .success([])
            }
            await clock.waitForSleeper()
            clock.advance(by: .seconds(60))
            goOn.yield()
            await tasks.untilAnswered()
        }
        #expect(answers.entries == [.success([7])])
    }

    @Test func whatNobodyWaitsForDoesNotHoldUpTheStop() async {
        tasks.start("command", isTimed: false, deliver: answers.append) { [self] in
            await hang()
            return .success([])
        }
        await tasks.untilAnswered()
        #expect(answers.entries.isEmpty)
        await tasks.end()
        #expect(answers.entries == [.success([])])
    }

    @Test func handlersThatComeAfterTheCancellationAreCancelled() async {
        tasks.cancelAll()
        tasks.start("a", isTimed: true, deliver: answers.append) { [self] in
            await hang()
            return .success([Task.isCancelled ? 1 : 0])
        }
        await tasks.untilAnswered()
        #expect(answers.entries == [.success([1])])
        await tasks.end()
    }

    @Test func theEndCancelsHandlersAndWaitsForThem() async {
        let ended = Log<Bool>()
        tasks.start("a", isTimed: true, deliver: answers.append) { [self] in
            await hang()
            ended.append(Task.isCancelled)
            return .success([7])
        }
        await tasks.end()
        #expect(ended.entries == [true])
        #expect(answers.entries == [.success([7])])
    }

    @Test func afterTheEndRequestsAreRefused() async {
        await tasks.end()
        tasks.start("a", isTimed: true, deliver: answers.append) { .success([7]) }
        #expect(answers.entries == [.failure(.unlikelyError)])
    }

    /// The pace of a handler that has been quick so far.
    private func quickPace() -> HandlerPace {
        let pace = HandlerPace()
        while !pace.isQuick { pace.note(.zero) }
        return pace
    }

    @Test func aQuickHandlerAnswersInPlace() async {
        let pace = quickPace()
        tasks.start("a", isTimed: true, pace: pace, deliver: answers.append) { .success([7]) }
        #expect(answers.entries == [.success([7])])
        await tasks.untilAnswered()
        await tasks.end()
    }

    @Test func aHandlerThatSuspendsInPlaceHasItsTimeAndItsEnd() async {
        let pace = quickPace()
        let ended = Log<Bool>()
        await keepingTime {
            tasks.start("a", isTimed: true, pace: pace, deliver: answers.append) {
                await hang()
                ended.append(Task.isCancelled)
                return .success([7])
            }
            #expect(answers.entries.isEmpty)
            await clock.waitForSleeper()
            clock.advance(by: RequestTasks.timeLimit)
            await tasks.untilAnswered()
        }
        #expect(answers.entries == [.failure(.unlikelyError)])
        #expect(ended.entries == [true])
    }

    @Test func aCommandThatSuspendsInPlaceDoesNotHoldUpTheStop() async {
        let stopped = Log<Void>()
        tasks.start("command", isTimed: false, pace: quickPace(), deliver: answers.append) { [self] in
            // The stop begins while the handler still holds the thread.
            Task.immediate {
                await tasks.untilAnswered()
                stopped.append(())
            }
            await hang()
            return .success([])
        }
        await stopped.untilNotEmpty()
        #expect(answers.entries.isEmpty)
        await tasks.end()
    }

    @Test func aQuickHandlerThatComesAfterTheCancellationIsCancelled() async {
        let pace = quickPace()
        tasks.cancelAll()
        tasks.start("a", isTimed: true, pace: pace, deliver: answers.append) { [self] in
            await hang()
            return .success([Task.isCancelled ? 1 : 0])
        }
        await tasks.end()
        #expect(answers.entries == [.success([1])])
    }

    @Test func manyHandlersInPlaceAndAwayAreAllAnswered() async {
        let pace = quickPace()
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    tasks.start("a", isTimed: true, pace: pace, deliver: answers.append) {
                        if index % 3 == 0 { await Task.yield() }
                        return .success([UInt8(index)])
                    }
                }
            }
        }
        await tasks.untilAnswered()
        #expect(Set(answers.entries) == Set((0..<200).map { .success([UInt8($0)]) }))
        #expect(answers.entries.count == 200)
        await tasks.end()
    }
}
