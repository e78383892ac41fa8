import Glibc

/// Runs functions that block.
package enum OwnThread {
    private final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs a function on a thread of its own, because it would block one of the few threads of Swift.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            let work = Work { continuation.resume(returning: body()) }
            let argument = Unmanaged.passRetained(work).toOpaque()
            var thread = pthread_t()
            let result = pthread_create(
                &thread,
                nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                },
                argument
            )
            guard result == 0 else { fatalError("There is no thread: \(result).") }
            pthread_detach(thread)
        }
    }
}
