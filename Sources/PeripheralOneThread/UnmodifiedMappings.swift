/// The mappings of a process that `/proc/self/smaps` shows to be as their files have them, read line by line.
///
/// Such a mapping cannot be written, and nothing was written to it before that was forbidden. The linker does write to the
/// pages of the relocated tables (RELRO) of each library: they must stay, since the file does not have what is in them.
package struct UnmodifiedMappings {
    /// What tells a modified page: each of these is 0 for a mapping without one.
    ///
    /// A modified page of a file is anonymous, or swapped out and then only in `Swap`. It need not count in
    /// `Private_Dirty`: not when it is back from swap and unchanged there, and not when a forked child has it too.
    private static let signs: Set<Substring> = ["Anonymous:", "Swap:", "Private_Dirty:", "Shared_Dirty:"]

    /// The addresses of these mappings, in the order of the lines.
    package private(set) var addresses: [Range<UInt>] = []

    /// The mapping that the next lines describe, unless something tells that it must stay.
    private var candidate: Range<UInt>?
    private var missingSigns = signs

    /// Nothing is known yet.
    package init() {}

    /// Reads the next line.
    ///
    /// - Parameter line: The line, with or without its end.
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

    /// The addresses of a mapping that begins with this line, when it is private, one of a file, and cannot be written.
    private static func readOnlyMapping(_ words: [Substring]) -> Range<UInt>? {
        guard words.count == 6, words[1].hasSuffix("p"), !words[1].contains("w"), words[4] != "0" else {
            return nil
        }
        let addresses = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard addresses.count == 2, addresses[0] < addresses[1] else { return nil }
        return addresses[0]..<addresses[1]
    }
}
