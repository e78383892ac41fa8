internal import Glibc

/// The files of a machine, with size limits for reading.
package struct MachineFiles: Sendable {
    /// The directory that is used as `/`.
    ///
    /// Tests use another directory.
    package var root: String

    package init(root: String = "") {
        self.root = root
    }

    package enum ReadError: Error, Hashable {
        case missing
        case refused(String)
    }

    /// Reads at most the first `limit` bytes of a file.
    package func read(_ path: String, limit: Int) throws(ReadError) -> [UInt8] {
        let descriptor = unsafe open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error() }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while content.count < limit {
            let wanted = min(part.count, limit - content.count)
            let count = unsafe part.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, wanted)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.error() }
            guard count > 0 else { break }
            content += part.prefix(count)
        }
        return content
    }

    private static func error() -> ReadError {
        let number = errno
        guard number != ENOENT && number != ENOTDIR else { return .missing }
        return .refused(unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)")
    }
}
