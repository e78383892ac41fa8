import Glibc
import PeripheralDBus
import PeripheralOneThread

/// Has Swift do what it does with tasks, and throws where that goes wrong, or takes another thread.
func doAllThatTasksDo() async throws {
    try await expect("children", await sumOfChildren() == 4_950)
    try await expect("an actor", await countOnActor() == 100)
    try await expect(
        "the main actor",
        await MainActor.run {
            MainActor.assertIsolated(); return true
        }
    )
    try await expect("a detached task", await Task.detached { await onMainActor() }.value)
    try await expect("an event loop", await onEventLoop())
    try await expect("a sleep", try await sleeps(on: .continuous))
    try await expect("a sleep by the other clock", try await sleeps(on: .suspending))
    try await expect("a sleep of nanoseconds", try await sleepsNanoseconds())
    try await expect("a sleep on the main actor", try await sleepsOnMainActor())
    try await expect("a sleep that is over already", try await sleepsUntilThePast())
    try await expect("a cancelled sleep", await cancelledSleepEnds(.seconds(100_000)))
    // Longer than any timer, and than any clock.
    try await expect("a long sleep", await cancelledSleepEnds(.seconds(10_000_000)))
    // Swift 6.2 itself traps on it.
    #if compiler(>=6.3)
        try await expect("a sleep without end", await cancelledSleepEnds(.seconds(Int64.max)))
    #endif
    try givesBackMemory()
    // All that was given back is read again.
    try await expect("children after that", await sumOfChildren() == 4_950)
    #if compiler(>=6.3)
        try await expect("one thread", try threadCount() == 1)
    #endif
}

/// The test program has much that it does not need any more.
private func givesBackMemory() throws {
    try readAllCode()
    let before = try kilobytes(of: "Rss:")
    StartPages.giveBack()
    let after = try kilobytes(of: "Rss:")
    guard after < before else {
        throw Mistake(description: "\(before) KiB before memory was given back, and \(after) KiB after that")
    }
}

/// Has all code of the program and its libraries in memory.
///
/// A program that was built just now has little of it there, because the kernel has not read its file yet.
private func readAllCode() throws {
    guard let file = fopen("/proc/self/maps", "re") else { throw Mistake(description: "no maps") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, CInt(line.count), file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ", maxSplits: 2)
        let bounds = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
        guard bounds.count == 2, words[1].hasPrefix("r-x") else { continue }
        // MADV_POPULATE_READ, which Glibc does not name yet.
        madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), 22)
    }
}

private func expect(_ what: String, _ condition: Bool) async throws {
    guard condition else { throw Mistake(description: what) }
}

private func sumOfChildren() async -> Int {
    await withTaskGroup { group in
        for number in 0..<100 {
            group.addTask {
                await Task.yield()
                return number
            }
        }
        return await group.reduce(0, +)
    }
}

private actor Counter {
    private(set) var count = 0

    func increment() async {
        let old = count
        count = old + 1
        await Task.yield()
    }
}

private func countOnActor() async -> Int {
    let counter = Counter()
    await withDiscardingTaskGroup { group in
        for _ in 0..<100 { group.addTask { await counter.increment() } }
    }
    return await counter.count
}

@MainActor private func onMainActor() async -> Bool {
    MainActor.assertIsolated()
    await Task.yield()
    MainActor.assertIsolated()
    return true
}

/// A loop is that of the process, and its end is not the process's.
private func onEventLoop() async -> Bool {
    let loop = EventLoop.make(name: "another")
    let isInLoop = await withTaskExecutorPreference(loop) { loop.inLoop }
    await loop.stop()
    return await withTaskExecutorPreference(loop) { isInLoop && loop.inLoop }
}

private func sleeps<C: Clock>(on clock: C) async throws -> Bool where C.Duration == Duration {
    let start = clock.now
    try await clock.sleep(for: .milliseconds(3))
    return start.duration(to: clock.now) >= .milliseconds(3)
}

private func sleepsNanoseconds() async throws -> Bool {
    let start = ContinuousClock.now
    try await Task.sleep(nanoseconds: 3_000_000)
    return .now - start >= .milliseconds(3)
}

@MainActor private func sleepsOnMainActor() async throws -> Bool {
    let start = ContinuousClock.now
    try await Task.sleep(for: .milliseconds(3))
    MainActor.assertIsolated()
    return .now - start >= .milliseconds(3)
}

private func sleepsUntilThePast() async throws -> Bool {
    try await Task.sleep(until: .now - .seconds(1), clock: .continuous)
    return true
}

private func cancelledSleepEnds(_ duration: Duration) async -> Bool {
    let sleep = Task { try await Task.sleep(for: duration) }
    await Task.yield()
    sleep.cancel()
    guard case .failure(let error) = await sleep.result else { return false }
    return error is CancellationError
}
