internal import Glibc
internal import Synchronization

/// A file descriptor that is closed with its last reference.
package final class OwnedFileDescriptor: Sendable {
    private let storage: Atomic<CInt>

    /// Takes ownership of `descriptor`.
    ///
    /// No other code may close it.
    package init(adopting descriptor: CInt) {
        storage = Atomic(descriptor)
    }

    deinit {
        let descriptor = storage.load(ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The number of the descriptor, for use while this object is held, or -1 after ``take()``.
    package var descriptor: CInt {
        storage.load(ordering: .relaxed)
    }

    /// Transfers the descriptor to the caller, which must close it.
    ///
    /// Returns -1 the second time.
    package func take() -> CInt {
        storage.exchange(-1, ordering: .relaxed)
    }
}

extension OwnedFileDescriptor: Equatable {
    package static func == (left: OwnedFileDescriptor, right: OwnedFileDescriptor) -> Bool {
        left === right
    }
}
