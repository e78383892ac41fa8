/// Polls a condition until it holds, because no event announces it.
///
/// The pauses grow to a millisecond: what the condition depends on often needs the same processor.
///
/// - Throws: `CancellationError`, so that a test ends that is over its time, and what the condition throws.
package func until(_ condition: () async throws -> Bool) async throws {
    var attempts = 0
    while try await !condition() {
        try Task.checkCancellation()
        attempts += 1
        if attempts < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
    }
}
