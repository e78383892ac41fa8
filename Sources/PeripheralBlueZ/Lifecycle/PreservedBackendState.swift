/// The text that the backend preserves for its next run.
///
/// The first line is the knowledge about handles. The numbers of the listeners and the alias of the adapter
/// follow, if there are any.
struct PreservedBackendState: Equatable {
    /// The beginning of the line with the numbers.
    private static let mark = "psm "

    var record: String
    /// The numbers of the listeners for L2CAP channels.
    var psms: [UInt16] = []
    /// The alias that the peripheral has given an adapter.
    var alias: String?

    init(record: String, psms: [UInt16], alias: String?) {
        (self.record, self.psms, self.alias) = (record, psms, alias)
    }

    init(_ text: String) {
        let parts = text.split(separator: "\n", maxSplits: 1)
        record = parts.first.map(String.init) ?? ""
        guard parts.count > 1 else { return }
        guard parts[1].hasPrefix(Self.mark) else {
            alias = String(parts[1])
            return
        }
        let lines = parts[1].split(separator: "\n", maxSplits: 1)
        psms = lines[0].dropFirst(Self.mark.count).split(separator: " ").compactMap { UInt16($0) }
        alias = lines.count > 1 ? String(lines[1]) : nil
    }

    var text: String {
        var text = record
        // An alias that begins like the mark follows a line with the mark.
        if !psms.isEmpty || alias?.hasPrefix(Self.mark) == true {
            text += "\n" + Self.mark + psms.map(\.description).joined(separator: " ")
        }
        if let alias { text += "\n" + alias }
        return text
    }
}
