import Glibc

/// A file that an upload extends.
///
/// The methods block.
final class PartialFile: Sendable {
    /// Writes to a file, like `write(2)`.
    typealias Write = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int

    private let descriptor: Int32
    private let path: String
    private let write: Write

    /// Opens a file; `nil` if it does not exist, or if it is not a regular file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - flags: The flags of `open(2)`.
    ///   - write: Writes to the file.
    /// - Throws: If the file cannot be opened.
    init?(_ path: String, _ flags: Int32, write: @escaping Write) throws(FileFailure) {
        // Opening a pipe must not wait for its other end.
        let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure("open", path)
        }
        (self.descriptor, self.path, self.write) = (descriptor, path, write)
        guard isRegular else { return nil }
    }

    deinit { close(descriptor) }

    private var status: stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    private var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }

    var length: UInt64 { UInt64(status.st_size) }

    /// The checksum of the file, computed in bounded memory.
    ///
    /// A later ``append(_:)`` continues at the end of the file.
    func checksum() throws(FileFailure) -> CRC32 {
        var checksum = CRC32()
        while case let bytes = try read(), !bytes.isEmpty { checksum.append(bytes) }
        return checksum
    }

    /// Reads the next bytes; none at the end of the file.
    func read() throws(FileFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("read", path) }
            return Array(buffer.prefix(count))
        }
    }

    func append(_ bytes: [UInt8]) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("write", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the content is on the disk.
    func synchronize() throws(FileFailure) {
        guard fsync(descriptor) == 0 else { throw FileFailure("write", path) }
    }
}
