import PeripheralDBus
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LoopTasksTests {
    @Test func workRunsOffTheLoopAndIsAwaited() async throws {
        let loop = EventLoop()
        let tasks = LoopTasks(on: loop)
        let done = Signal<Bool>()
        async let scope: Void = tasks.run()
        loop.execute {
            for _ in 0..<3 { tasks.start { done.send(loop.inLoop) } }
            tasks.finish()
        }
        await scope
        for _ in 0..<3 { #expect(await done.next() == false) }
        #expect(!tasks.start {})
        await loop.stop()
    }

    @Test func cancellationReachesTheWorkAndEndsTheScope() async throws {
        let loop = EventLoop()
        let tasks = LoopTasks(on: loop)
        let started = Signal<Void>()
        let wasCancelled = Signal<Bool>()
        let scope = Task { await tasks.run() }
        tasks.start {
            started.send()
            // Suspends until it is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            wasCancelled.send(Task.isCancelled)
        }
        await started.next()
        scope.cancel()
        await scope.value
        #expect(await wasCancelled.next() == true)
        await loop.stop()
    }

    @Test func aScopeThatIsCancelledBeforeItRunsEndsAtOnce() async throws {
        let loop = EventLoop()
        let tasks = LoopTasks(on: loop)
        let scope = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await tasks.run()
        }
        await scope.value
        #expect(!tasks.start {})
        await loop.stop()
    }
}
