import Logging
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct LogLimitTests {
    private let clock = ManualClock()
    private let log = LogRecorder(from: .trace)
    private let limit: LogLimit

    init() {
        limit = LogLimit(of: log.logger, clock: clock)
    }

    private func tell(_ message: Logger.Message, times: Int) {
        for number in 0..<times { limit.limited.warning(message, metadata: ["number": "\(number)"]) }
    }

    @Test func fiveOfAKindPassAtOnceAndThenOneAMinute() {
        tell("A", times: 100)
        tell("B", times: 1)
        #expect(log.lines == (0..<5).map { "warning: A [\($0)]" } + ["warning: B [0]"])
        clock.advance(by: LogHistory.interval)
        tell("A", times: 100)
        #expect(log.lines.dropFirst(6) == ["warning: A [0; 95]"])
        clock.advance(by: LogHistory.interval * 2)
        tell("A", times: 100)
        #expect(log.lines.dropFirst(7) == ["warning: A [0; 99]", "warning: A [1]"])
    }

    /// A message that occurs once must not be lost because another occurs too often.
    @Test func whatDiffersInABoundedDetailOrInTheLevelIsOfAnotherKind() {
        for number in 0..<100 {
            limit.limited.warning("A", metadata: ["reason": .bounded("off \(number)", by: "off")])
        }
        limit.limited.warning("A", metadata: ["reason": .bounded("on", by: "on"), "number": "1"])
        limit.limited.error("A", metadata: ["reason": .bounded("off", by: "off")])
        #expect(
            log.lines.map { $0 == "warning: A [on; 1]" ? "warning: A [1; on]" : $0 }
                == (0..<5).map { "warning: A [off \($0)]" } + ["warning: A [1; on]", "error: A [off]"]
        )
        clock.advance(by: LogHistory.interval)
        limit.limited.warning("A", metadata: ["reason": .bounded("off", by: "off")])
        // Metadata has no order.
        #expect(["warning: A [off; 95]", "warning: A [95; off]"].contains(log.lines.last))
    }

    @Test func tooManyDetailsOfAMessageShareAKind() {
        let count = LogHistory.detailCapacity
        for _ in 0..<2 {
            for number in 0..<(count * 10) {
                limit.limited.warning("A", metadata: ["n": .bounded("\(number)")])
            }
        }
        #expect(log.lines.count == count * 2 + LogHistory.burst)
        tell("B", times: 1)
        #expect(log.lines.last == "warning: B [0]")
        // What was quiet for long makes room.
        clock.advance(by: LogHistory.interval * 100)
        for number in 0..<count { limit.limited.warning("A", metadata: ["n": .bounded("new \(number)")]) }
        #expect(log.lines.suffix(count).allSatisfy { $0.hasPrefix("warning: A [new ") })
        limit.end()
        let left = (count * 10 - count) * 2 - LogHistory.burst
        #expect(
            log.lines.last
                == "warning: Log messages were omitted because too many messages were of the same kind. [A; \(left)]"
        )
    }

    @Test func quietLetsFivePassAgain() {
        tell("A", times: 5)
        clock.advance(by: LogHistory.interval * 100)
        tell("A", times: 100)
        #expect(log.lines == (0..<5).map { "warning: A [\($0)]" } + (0..<5).map { "warning: A [\($0)]" })
    }

    @Test func theEndTellsWhatWasLeftOut() {
        tell("A", times: 100)
        tell("B", times: 5)
        limit.end()
        limit.end()
        #expect(
            log.lines.dropFirst(10) == [
                "warning: Log messages were omitted because too many messages were of the same kind. [A; 95]"
            ]
        )
    }

    /// A program may run a peripheral again for each central.
    @Test func theLimitHoldsAcrossRuns() {
        let history = LogHistory()
        for _ in 0..<100 {
            let limit = LogLimit(of: log.logger, after: history, clock: clock)
            for _ in 0..<10 { limit.limited.warning("A") }
            limit.end()
        }
        // Half of the lines are reports about suppressed lines.
        #expect(log.lines.count == 2 * LogHistory.burst)
        clock.advance(by: LogHistory.interval)
        LogLimit(of: log.logger, after: history, clock: clock).end()
        let reported = log.lines.compactMap { line in
            line.hasSuffix("]") ? line.dropLast().split(separator: " ").last.flatMap { Int($0) } : nil
        }
        #expect(reported.reduce(0, +) == 100 * 10 - LogHistory.burst)
    }

    @Test(arguments: [Logger.Level.trace, .debug])
    func whatIsBelowInfoIsNotLimited(level: Logger.Level) {
        for _ in 0..<100 { limit.limited.log(level: level, "A") }
        #expect(log.lines.count == 100)
    }

    @Test(arguments: [Logger.Level.info, .notice, .warning, .error, .critical])
    func whatIsAboveIsLimited(level: Logger.Level) {
        for _ in 0..<100 { limit.limited.log(level: level, "A") }
        #expect(log.lines.count == LogHistory.burst)
    }

    @Test func theLoggerStaysWhatItWas() {
        var logger = log.logger
        logger.logLevel = .error
        logger[metadataKey: "key"] = "value"
        var limited = LogLimit(of: logger, clock: clock).limited
        #expect(limited.logLevel == .error)
        #expect(limited[metadataKey: "key"] == "value")
        #expect(limited.label == logger.label)
        limited.logLevel = .trace
        limited[metadataKey: "key"] = nil
        #expect(logger.logLevel == .error)
        #expect(logger[metadataKey: "key"] == "value")
    }
}
