internal import Glibc
internal import Synchronization

/// A file descriptor that is closed with its last reference.
package final class OwnedFileDescriptor: Sendable {
    private let storage: Atomic<CInt>

    /// Takes over `descriptor`: nobody else may close it from here on.
    package init(adopting descriptor: CInt) {
        storage = Atomic(descriptor)
    }

    deinit {
        let descriptor = storage.load(ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The number of the descriptor, for use while this object is held; -1 once it was taken.
    package var descriptor: CInt {
        storage.load(ordering: .relaxed)
    }

    /// Hands the descriptor over to the caller, who closes it; -1 the second time.
    package func take() -> CInt {
        storage.exchange(-1, ordering: .relaxed)
    }
}

extension OwnedFileDescriptor: Equatable {
    package static func == (left: OwnedFileDescriptor, right: OwnedFileDescriptor) -> Bool {
        left === right
    }
}
