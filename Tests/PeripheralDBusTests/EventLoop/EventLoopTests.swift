import Glibc
import PeripheralDBus
import Synchronization
import TestSupport
import Testing

/// An actor whose executor is a loop.
private actor Counter {
    nonisolated let loop: EventLoop
    private(set) var count = 0

    init(on loop: EventLoop) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func increment() -> Bool {
        count += 1
        return loop.inLoop
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EventLoopTests {
    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = EventLoop()
        do {
            try await body(loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    @Test func anActorRunsOnItsLoop() async throws {
        try await withLoop { loop in
            let counter = Counter(on: loop)
            #expect(!loop.inLoop)
            #expect(await counter.increment())
        }
    }

    @Test func tasksThatPreferTheLoopRunOnIt() async throws {
        try await withLoop { loop in
            let isInLoop = await Task(executorPreference: loop) { loop.inLoop }.value
            #expect(isInLoop)
        }
    }

    @Test func callbacksEnterAnActorOfTheLoop() async throws {
        try await withLoop { loop in
            let counter = Counter(on: loop)
            let done = Signal<Int>()
            loop.execute {
                counter.assumeIsolated { counter in
                    _ = counter.increment()
                    done.send(counter.count)
                }
            }
            #expect(await done.next() == 1)
        }
    }

    @Test func workFromManyThreadsIsAllRun() async throws {
        try await withLoop { loop in
            let counter = Counter(on: loop)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<500 { _ = await counter.increment() } }
                }
            }
            #expect(await counter.count == 4000)
        }
    }

    @Test func timersFireOnceUnlessCancelled() async throws {
        try await withLoop { loop in
            let fired = Signal<Int>()
            loop.execute {
                let cancelled = loop.schedule(after: .milliseconds(1)) { fired.send(0) }
                cancelled.cancel()
                cancelled.cancel()
                _ = loop.schedule(after: .seconds(-1)) {
                    fired.send(1)
                    _ = loop.schedule(after: .milliseconds(2)) {
                        fired.send(2)
                        _ = loop.schedule(after: .microseconds(1)) { fired.send(3) }
                    }
                }
            }
            #expect(await fired.next() == 1)
            #expect(await fired.next() == 2)
            #expect(await fired.next() == 3)
        }
    }

    @Test func aFileDescriptorIsWatchedUntilCancelled() async throws {
        try await withLoop { loop in
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reader, writer) = (
                OwnedFileDescriptor(adopting: ends[0]), OwnedFileDescriptor(adopting: ends[1])
            )
            let events = Signal<FileDescriptorEvents>()
            let source = Mutex<LoopSource?>(nil)
            let isSet = Signal<Void>()
            loop.execute {
                let watch = loop.watch(fileDescriptor: reader.descriptor, events: .readable) { found in
                    var byte: UInt8 = 0
                    _ = read(reader.descriptor, &byte, 1)
                    events.send(found)
                    if found.contains(.hangUp) { source.withLock { $0.take() }?.cancel() }
                }
                source.withLock { $0 = watch }
                isSet.send()
            }
            await isSet.next()
            #expect(write(writer.descriptor, [1] as [UInt8], 1) == 1)
            #expect(await events.next() == .readable)
            close(writer.take())
            #expect(await events.next() == .hangUp)
            // A watch that still stood would report the hang-up again and again.
            let barrier = Signal<Void>()
            loop.execute { _ = loop.schedule(after: .milliseconds(1)) { barrier.send() } }
            await barrier.next()
            #expect(source.withLock { $0 } == nil)
        }
    }

    @Test func workThatArrivesAfterTheEndStillRuns() async throws {
        let loop = EventLoop()
        let counter = Counter(on: loop)
        #expect(await counter.increment())
        await loop.stop()
        #expect(await counter.increment())
        #expect(await counter.count == 2)
        await loop.stop()
    }

    @Test func aLoopCanBeStoppedFromItself() async throws {
        let loop = EventLoop()
        await Task(executorPreference: loop) { await loop.stop() }.value
        #expect(!loop.inLoop)
    }

    @Test func aStoppedLoopLeavesNeitherTimersNorWatches() async throws {
        await #expect(processExitsWith: .success) {
            await stopLoops(2)
            let before = entries(of: "/proc/self/fd")
            await stopLoops(20)
            // The thread of what arrived late may just be ending, and the runtime may have opened a few.
            let limit = ContinuousClock.now + .seconds(10)
            try await until { entries(of: "/proc/self/fd") < before + 10 || .now > limit }
            try #require(entries(of: "/proc/self/fd") < before + 10)
        }
    }

    @Test func aStoppedLoopLeavesNoThread() async throws {
        await #expect(processExitsWith: .success) {
            let before = entries(of: "/proc/self/task")
            for _ in 0..<20 {
                let loop = EventLoop()
                _ = await Counter(on: loop).increment()
                await loop.stop()
            }
            // The pool of the global executor may have grown meanwhile, by a few threads and never by twenty.
            try #require(entries(of: "/proc/self/task") < before + 15)
        }
    }
}

/// Stops loops on which something stands that keeps them.
private func stopLoops(_ count: Int) async {
    for _ in 0..<count {
        let loop = EventLoop()
        await setTimerAndWatch(on: loop)
        await loop.stop()
        // Nor does what is set later, by work that arrives late.
        await setTimerAndWatch(on: loop)
    }
}

private func setTimerAndWatch(on loop: EventLoop) async {
    await withCheckedContinuation { continuation in
        loop.execute {
            _ = loop.schedule(after: .seconds(3600)) { _ = loop }
            _ = loop.watch(fileDescriptor: 0, events: .readable) { _ in _ = loop }
            continuation.resume()
        }
    }
}

/// How many entries a directory has.
func entries(of directory: String) -> Int {
    guard let stream = opendir(directory) else { return -1 }
    defer { closedir(stream) }
    var count = 0
    while readdir(stream) != nil { count += 1 }
    return count
}
