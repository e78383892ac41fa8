import Glibc
import PeripheralKit
import PeripheralStorage
import Testing

/// A directory that goes with this object, with all that is in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/peripheral-storage-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit {
        Self.removeAll(at: path)
    }

    var store: StateDirectory { StateDirectory(path: path) }

    func path(of name: String) -> String {
        "\(path)/\(name)"
    }

    /// The names of what is in it, sorted.
    var names: [String] { Self.names(in: path) }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o600) throws {
        let descriptor = open(path(of: name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        try #require(fchmod(descriptor, mode) == 0)
    }

    func read(_ name: String) throws -> [UInt8] {
        let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 24)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        try #require(count >= 0)
        return Array(bytes[..<count])
    }

    func status(of name: String) throws -> stat {
        var status = stat()
        try #require(lstat(path(of: name), &status) == 0)
        return status
    }

    static func names(in path: String) -> [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func removeAll(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in names(in: path) { removeAll(at: "\(path)/\(name)") }
        }
        remove(path)
    }
}
