import Dispatch

/// Runs the file operations of one upload in order.
///
/// File operations can block for seconds on a worn flash card. They must not block the threads of Swift's
/// pool.
struct DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "files")

    func run<Success: Sendable>(
        _ body: @escaping @Sendable () throws(FileFailure) -> Success
    ) async throws(FileFailure) -> Success {
        let result: Result<Success, FileFailure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
