import Glibc
import PeripheralDBus
import Testing

/// Signals of the process that receivers receive on event loops.
///
/// The tests use signals that are ignored by default, so that a mistake does not end all tests.
@Suite(.timeLimit(.minutes(1)))
struct ProcessSignalReceiverTests {
    @Test func aSignalReachesEachReceiver() async throws {
        let loops = [EventLoop(), EventLoop()]
        let receivers = try loops.map {
            try ProcessSignalReceiver.receive([SIGWINCH], on: $0, bufferingPolicy: .bufferingNewest(1))
        }
        kill(getpid(), SIGWINCH)
        for (arrivals, _) in receivers { #expect(await first(of: arrivals) == SIGWINCH) }
        #expect(!isDefault(SIGWINCH))
        receivers[0].receiver.end()
        #expect(!isDefault(SIGWINCH))
        receivers[1].receiver.end()
        #expect(isDefault(SIGWINCH))
        for loop in loops { await loop.stop() }
    }

    @Test func theEndOfTheStreamRestoresTheHandling() async throws {
        let loop = EventLoop()
        let (arrivals, _) = try ProcessSignalReceiver.receive(
            [SIGURG],
            on: loop,
            bufferingPolicy: .unbounded,
            endsWithStream: true
        )
        let task = Task { for await _ in arrivals {} }
        #expect(!isDefault(SIGURG))
        task.cancel()
        await task.value
        #expect(isDefault(SIGURG))
        await loop.stop()
    }

    @Test func aRefusedSignalChangesNoHandling() async throws {
        let loop = EventLoop()
        let error = #expect(throws: ProcessSignalsUnavailable.self) {
            try ProcessSignalReceiver.receive([SIGCONT, SIGKILL], on: loop, bufferingPolicy: .unbounded)
        }
        #expect(error?.number == EINVAL)
        #expect(isDefault(SIGCONT))
        await loop.stop()
    }

    private func first(of arrivals: AsyncStream<CInt>) async -> CInt? {
        for await signal in arrivals { return signal }
        return nil
    }

    private func isDefault(_ signal: CInt) -> Bool {
        var handling = sigaction()
        sigaction(signal, nil, &handling)
        return handling.__sigaction_handler.sa_handler == nil
    }
}
