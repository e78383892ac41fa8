import Glibc

/// What the kernel tells in files, such as those of sysfs.
package enum SystemFiles {
    /// The first line of a file without the spaces around it; `nil` when it cannot be read.
    package static func line(_ path: String) -> String? {
        // What a driver cannot tell at the moment fails in reading, not in opening.
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "\n")) }
        return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A file's number; `nil` when it has none.
    package static func number(_ path: String) -> Int? {
        line(path).flatMap { Int($0) }
    }

    /// The names in a directory, in their order; none when it cannot be read.
    package static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
