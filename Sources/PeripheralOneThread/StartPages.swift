private import Glibc

/// The pages of the program and its libraries that have been in memory since the start.
///
/// The start of a program needs most of these pages, and later work needs few of them. Returning the pages to
/// the kernel reduces the memory of the process. If a page is needed again, the kernel reads the page from
/// its file. The access costs only a page fault while the kernel still has the page.
package enum StartPages {
    /// Returns all pages of unmodified mappings to the kernel.
    ///
    /// The kernel can read these pages from their files again.
    package static func giveBack() {
        let mappings = unmodifiedMappings()
        // No other work may run here, because it would need pages that were just returned.
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
