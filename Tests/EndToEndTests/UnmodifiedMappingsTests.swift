import PeripheralOneThread
import Testing

/// Which mappings a program may give back without losing what it wrote to them.
struct UnmodifiedMappingsTests {
    /// A mapping of a library whose pages are as the kernel says; what is not named is 0.
    struct Pages: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first = "7f10c0000000-7f10c0003000 r--p 00020000 fe:00 253911    /usr/lib/libglib-2.0.so.0"
        var kilobytes: [String: Int] = [:]
        var isUnmodified = false

        var text: String {
            let keys = [
                "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "Anonymous", "Swap",
            ]
            let lines = keys.map { "\($0):        \(kilobytes[$0] ?? 0) kB" }
            return ([first, "Size:  12 kB"] + lines + ["VmFlags: rd mr mw me"]).joined(separator: "\n")
        }
    }

    static let pages = [
        Pages(testDescription: "as in the file", kilobytes: ["Private_Clean": 12], isUnmodified: true),
        Pages(
            testDescription: "as in the file, with others",
            kilobytes: ["Shared_Clean": 12],
            isUnmodified: true
        ),
        Pages(testDescription: "not in memory", isUnmodified: true),
        Pages(testDescription: "modified", kilobytes: ["Private_Dirty": 4, "Anonymous": 4]),
        Pages(testDescription: "swapped out", kilobytes: ["Private_Clean": 8, "Swap": 4]),
        Pages(testDescription: "back from swap", kilobytes: ["Private_Clean": 12, "Anonymous": 4]),
        Pages(testDescription: "modified, with a child", kilobytes: ["Shared_Dirty": 4, "Anonymous": 4]),
        Pages(
            testDescription: "back from swap, with a child",
            kilobytes: ["Shared_Clean": 4, "Anonymous": 4]
        ),
        Pages(
            testDescription: "writable",
            first: "7f10c0000000-7f10c0003000 rw-p 0 fe:00 253911 /usr/lib/a.so"
        ),
        Pages(testDescription: "shared", first: "7f10c0000000-7f10c0003000 r--s 0 fe:00 253911 /dev/shm/a"),
        Pages(testDescription: "of no file", first: "7f10c0000000-7f10c0003000 r--p 0 00:00 0 [vvar]"),
    ]

    @Test(arguments: pages) func takesWhatIsAsItsFileHasIt(_ pages: Pages) {
        #expect(
            addresses(in: pages.text) == (pages.isUnmodified ? [0x7f10_c000_0000..<0x7f10_c000_3000] : [])
        )
    }

    /// Each mapping counts for itself, whatever stands before and behind it.
    @Test func takesSeveral() {
        var text = ""
        var expected: [Range<UInt>] = []
        for (position, pages) in Self.pages.enumerated() {
            let start = UInt(position + 1) << 16
            let rest = pages.first.drop { $0 != " " }
            var pages = pages
            pages.first = String(start, radix: 16) + "-" + String(start + 0x1000, radix: 16) + rest
            text += pages.text + "\n"
            if pages.isUnmodified { expected.append(start..<start + 0x1000) }
        }
        #expect(addresses(in: text) == expected)
    }

    /// If the kernel omits one of these lines, a page may be modified.
    @Test(arguments: ["Shared_Dirty:", "Private_Dirty:", "Anonymous:", "Swap:"])
    func takesNothingWithoutKnowing(_ key: String) {
        let lines = Self.pages[0].text.split(separator: "\n").filter { !$0.hasPrefix(key) }
        #expect(addresses(in: lines.joined(separator: "\n")).isEmpty)
    }

    /// Lines that no kernel writes.
    @Test(arguments: [
        "", ":", "-", "2000-1000 r--p 0 fe:00 1 a", "x-y r--p 0 fe:00 1 a", "Swap:", "Anonymous: much",
    ])
    func survivesOtherLines(_ line: String) {
        #expect(addresses(in: line + "\n" + line).isEmpty)
        #expect(addresses(in: "1000-2000 r--p 0 fe:00 1 a\n" + line).isEmpty)
    }

    private func addresses(in text: String) -> [Range<UInt>] {
        var mappings = UnmodifiedMappings()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            mappings.read(String(line))
        }
        return mappings.addresses
    }
}
