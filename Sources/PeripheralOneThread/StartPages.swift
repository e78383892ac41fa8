private import Glibc

/// The pages of the program and its libraries that are in memory since the start, which needs most of them.
///
/// What comes after it needs few; the others are given back, so that they count for nothing in the memory of the process and
/// the machine may have theirs. A page that is needed after all is read from its file again, which is no more than a
/// fault as long as the kernel still has it.
package enum StartPages {
    /// Gives back all pages that are as their files have them.
    package static func giveBack() {
        let mappings = unchangedMappings()
        // Nothing in between: it would need pages that have just been given back.
        for mapping in mappings {
            unsafe madvise(
                UnsafeMutableRawPointer(bitPattern: mapping.lowerBound),
                mapping.count,
                CInt(MADV_DONTNEED)
            )
        }
    }

    /// The addresses of all mappings that cannot be written and have not been.
    private static func unchangedMappings() -> [Range<UInt>] {
        guard let file = unsafe fopen("/proc/self/smaps", "re") else { return [] }
        defer { unsafe fclose(file) }
        var mappings: [Range<UInt>] = []
        var mapping: Range<UInt>?
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
            let words = unsafe String(cString: text).split(whereSeparator: \.isWhitespace)
            if let readOnly = readOnlyMapping(words) {
                mapping = readOnly
            } else if words.first == "Private_Dirty:", let unwritten = mapping.take(), words[1] == "0" {
                mappings.append(unwritten)
            }
        }
        return mappings
    }

    /// The addresses of a mapping that begins with this line, when it is one of a file and cannot be written.
    ///
    /// It may have been changed before it could not be written any more: then it has dirty pages, of which a later line tells.
    private static func readOnlyMapping(_ words: [Substring]) -> Range<UInt>? {
        guard words.count == 6, words[1].hasSuffix("p"), !words[1].contains("w"), words[4] != "0" else {
            return nil
        }
        let addresses = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return addresses.count == 2 ? addresses[0]..<addresses[1] : nil
    }
}
