/// Waits until a condition holds that nobody announces.
///
/// - Throws: `CancellationError`, so that a test ends that is over its time.
package func until(_ condition: () async -> Bool) async throws {
    while await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
