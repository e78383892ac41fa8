import Glibc

/// What the process has.
package struct Usage: CustomStringConvertible {
    package var descriptors: Int
    package var kilobytes: Int

    package init(descriptors: Int, kilobytes: Int) {
        self.descriptors = descriptors
        self.kilobytes = kilobytes
    }

    package static var now: Usage {
        var usage = Usage(descriptors: 0, kilobytes: 0)
        if let directory = opendir("/proc/self/fd") {
            while readdir(directory) != nil { usage.descriptors += 1 }
            closedir(directory)
        }
        if let file = fopen("/proc/self/status", "r") {
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = String(
                    decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                    as: UTF8.self
                )
                if text.hasPrefix("VmRSS:") {
                    usage.kilobytes = text.split(separator: " ").lazy.compactMap { Int($0) }.first ?? 0
                }
            }
            fclose(file)
        }
        return usage
    }

    package var description: String { "\(descriptors) descriptors, \(kilobytes) KB" }
}
