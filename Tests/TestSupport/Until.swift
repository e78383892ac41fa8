/// Waits until a condition holds that no one announces.
///
/// - Throws: `CancellationError`, so that a test ends that is over its time, and what the condition throws.
package func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
