/// The unmodified file mappings of a process, read line by line from `/proc/self/smaps`.
///
/// An unmodified mapping is not writable, and it was not modified while it was writable. The linker writes to
/// the relocated tables (RELRO) of each library. The pages of these tables must stay, because their content
/// is not in the file.
package struct UnmodifiedMappings {
    /// The fields that indicate a modified page.
    ///
    /// Each of these fields is 0 for an unmodified mapping.
    ///
    /// A modified page of a file is anonymous, or swapped out and then counted only in `Swap`.
    /// `Private_Dirty` may omit a modified page after an unchanged return from swap, or while a forked child
    /// shares the page.
    private static let signs: Set<Substring> = ["Anonymous:", "Swap:", "Private_Dirty:", "Shared_Dirty:"]

    /// The addresses of the unmodified mappings, in the order of the lines.
    package private(set) var addresses: [Range<UInt>] = []

    /// The mapping that the next lines describe, until a line shows that it must stay.
    private var candidate: Range<UInt>?
    private var missingSigns = signs

    /// Creates a value without any mappings.
    package init() {}

    /// Reads the next line.
    ///
    /// - Parameter line: The line, with or without its line ending.
    package mutating func read(_ line: String) {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let first = words.first else { return }
        guard first.hasSuffix(":") else {
            candidate = Self.readOnlyMapping(words)
            missingSigns = Self.signs
            return
        }
        guard let mapping = candidate, missingSigns.remove(first) != nil else { return }
        guard words.count > 1, words[1] == "0" else {
            candidate = nil
            return
        }
        if missingSigns.isEmpty { addresses.append(mapping) }
    }

    /// Returns the addresses in the first line of a mapping that is private, file-backed and not writable.
    private static func readOnlyMapping(_ words: [Substring]) -> Range<UInt>? {
        guard words.count == 6, words[1].hasSuffix("p"), !words[1].contains("w"), words[4] != "0" else {
            return nil
        }
        let addresses = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard addresses.count == 2, addresses[0] < addresses[1] else { return nil }
        return addresses[0]..<addresses[1]
    }
}
