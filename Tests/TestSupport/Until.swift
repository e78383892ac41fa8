/// Waits until a condition holds that nobody announces.
///
/// - Throws: `CancellationError`, so that a test ends that is over its time.
package func until(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
