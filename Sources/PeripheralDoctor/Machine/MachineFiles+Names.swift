internal import Glibc
package import PeripheralBlueZ

extension MachineFiles {
    /// Returns the first line of a short file, or `nil` if the file cannot be read.
    package func line(_ path: String) -> String? {
        guard let bytes = try? read(path, limit: 256) else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// Returns the sorted names in a directory, or `nil` if it cannot be read.
    package func names(in path: String) -> [String]? {
        guard let directory = unsafe opendir(root + path) else { return nil }
        defer { unsafe closedir(directory) }
        let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        var names: [String] = []
        while names.count < 256, let entry = unsafe readdir(directory) {
            let name = unsafe UnsafeRawPointer(entry).advanced(by: nameOffset)
                .assumingMemoryBound(to: CChar.self)
            let text = unsafe String(cString: name)
            if !text.hasPrefix(".") { names.append(text) }
        }
        return names.sorted()
    }

    package func canExecute(_ path: String) -> Bool {
        unsafe access(root + path, X_OK) == 0
    }
}
