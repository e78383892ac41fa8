private import Glibc

/// The pages of the program and its libraries that have been in memory since the start.
///
/// The start needs most of them, and later work needs few. Returning the others reduces the memory of the
/// process and makes it available to the machine. A page that is needed again is read from its file. This
/// costs only a page fault while the kernel still has the page.
package enum StartPages {
    /// Returns all pages of unmodified mappings.
    ///
    /// The kernel can read them from their files again.
    package static func giveBack() {
        let mappings = unmodifiedMappings()
        // Nothing may come between these two steps: it would need pages that were just returned.
        for mapping in mappings {
            unsafe madvise(
                UnsafeMutableRawPointer(bitPattern: mapping.lowerBound),
                mapping.count,
                CInt(MADV_DONTNEED)
            )
        }
    }

    private static func unmodifiedMappings() -> [Range<UInt>] {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return [] }
        defer { unsafe fclose(file) }
        var mappings = UnmodifiedMappings()
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
            mappings.read(unsafe String(cString: text))
        }
        return mappings.addresses
    }
}
