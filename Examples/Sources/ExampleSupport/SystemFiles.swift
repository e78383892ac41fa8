import Glibc

/// Values that the kernel provides in files, such as those of sysfs.
package enum SystemFiles {
    /// Returns the first line of a file; `nil` when it cannot be read.
    package static func line(_ path: String) -> String? {
        // If a driver has no value at the moment, reading fails, not opening.
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "\n")) }
        return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the number in a file; `nil` when there is none.
    package static func number(_ path: String) -> Int? {
        line(path).flatMap { Int($0) }
    }

    /// Returns the sorted names in a directory; none when it cannot be read.
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
