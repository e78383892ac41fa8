import Glibc
import Testing

/// Files in a directory that goes with this object.
package final class TemporaryFiles {
    package let path: String
    private var entries: [String] = []

    package init(_ files: [String: String]) throws {
        var template = Array("/tmp/peripheral-files-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
        for (name, content) in files { try write(content, to: name) }
    }

    deinit {
        for entry in entries.sorted(by: >) { remove(entry) }
        rmdir(path)
    }

    private func write(_ content: String, to name: String) throws {
        var directory = path
        for part in name.split(separator: "/").dropLast() {
            directory += "/\(part)"
            mkdir(directory, 0o700)
            if !entries.contains(directory) { entries.append(directory) }
        }
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        entries.append("\(path)/\(name)")
        #expect(Glibc.write(descriptor, content, content.utf8.count) == content.utf8.count)
    }
}
