private import Glibc

/// The pages of the program and its libraries that are in memory since the start, which needs most of them.
///
/// What comes after it needs few; the others are given back, so that they count for nothing in the memory of the process and
/// the machine may have theirs. A page that is needed after all is read from its file again, which is no more than a
/// fault as long as the kernel still has it.
package enum StartPages {
    /// Gives back all pages of mappings that nobody has modified: whatever is needed of them again is in their files.
    package static func giveBack() {
        let mappings = unmodifiedMappings()
        // Nothing in between: it would need pages that have just been given back.
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
