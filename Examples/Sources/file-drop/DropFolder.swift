import ExampleSupport
import Glibc

/// The directory of the uploaded files.
///
/// A partial file is `NAME.part`. Its header is in `NAME.part-header`. A complete file is `NAME`, so only a
/// complete file has an allowed name. One program at a time may use a directory. The methods block.
struct DropFolder: Sendable {
    static let reservedEndings = [".part", ".part-header"]

    /// What the folder has of a file.
    enum Content {
        case complete
        /// The file up to an offset, which is 0 for a new file.
        case partial(PartialFile, offset: UInt64, checksum: CRC32)

        var isComplete: Bool { if case .complete = self { true } else { false } }
    }

    let path: String
    private let write: PartialFile.Write

    /// - Parameters:
    ///   - path: The path of the directory. Its parent must exist.
    ///   - write: Writes the data of files.
    init(
        _ path: String,
        write: @escaping PartialFile.Write = { Glibc.write($0, $1.baseAddress, $1.count) }
    ) {
        (self.path, self.write) = (path, write)
    }

    private func file(_ name: String) -> String { "\(path)/\(name)" }
    private func part(_ header: FileHeader) -> String { file(header.name + Self.reservedEndings[0]) }
    private func savedHeader(_ header: FileHeader) -> String { file(header.name + Self.reservedEndings[1]) }

    /// Creates the directory if it is missing.
    func create() throws(FileFailure) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw FileFailure("create", path) }
    }

    /// The number of complete files.
    var completeFiles: Int {
        SystemFiles.names(in: path).count { name in
            var status = stat()
            return FileHeader.isAllowed(name) && lstat(file(name), &status) == 0
                && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Finds what is there of a file, or begins it.
    ///
    /// A partial file with another header is deleted.
    func open(_ header: FileHeader) throws(FileFailure) -> Content {
        try create()
        if try isComplete(header) { return .complete }
        if try hasSaved(header), let part = try PartialFile(part(header), O_RDWR, write: write),
            part.length <= header.length
        {
            let offset = part.length
            try checkSpace(for: header.length - offset)
            return .partial(part, offset: offset, checksum: try part.checksum())
        }
        // The header is saved while there is no partial file, so a saved header always belongs to its file.
        try discard(header)
        try checkSpace(for: header.length)
        try save(header)
        guard let part = try PartialFile(part(header), O_RDWR | O_CREAT | O_EXCL, write: write) else {
            throw FileFailure("create", part(header))
        }
        return .partial(part, offset: 0, checksum: CRC32())
    }

    private func isComplete(_ header: FileHeader) throws(FileFailure) -> Bool {
        guard let file = try PartialFile(file(header.name), O_RDONLY, write: write),
            file.length == header.length
        else { return false }
        return try file.checksum().value == header.checksum
    }

    private func hasSaved(_ header: FileHeader) throws(FileFailure) -> Bool {
        let packet = header.packet
        guard let file = try PartialFile(savedHeader(header), O_RDONLY, write: write),
            file.length == UInt64(packet.count)
        else { return false }
        return try file.read() == packet
    }

    private func save(_ header: FileHeader) throws(FileFailure) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        guard let file = try PartialFile(savedHeader(header), flags, write: write) else {
            throw FileFailure("create", savedHeader(header))
        }
        try file.append(header.packet)
    }

    /// Refuses a file at its beginning if there is not enough space for it.
    private func checkSpace(for length: UInt64) throws(FileFailure) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return }
        let (space, isUnlimited) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard isUnlimited || length <= space else { throw FileFailure("write", path, code: ENOSPC) }
    }

    /// Gives a partial file its name, in place of an earlier file of this name.
    func complete(_ header: FileHeader, _ part: PartialFile) throws(FileFailure) {
        try part.synchronize()
        guard rename(self.part(header), file(header.name)) == 0 else {
            throw FileFailure("create", file(header.name))
        }
        unlink(savedHeader(header))
        synchronize()
    }

    /// Deletes a partial file.
    func discard(_ header: FileHeader) throws(FileFailure) {
        for file in [part(header), savedHeader(header)] {
            guard unlink(file) == 0 || errno == ENOENT else { throw FileFailure("delete", file) }
        }
    }

    /// Waits until the names are on the disk.
    private func synchronize() {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
