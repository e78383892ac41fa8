/// What a ``BulkProgram`` is to do, as its arguments say it.
struct BulkOrder {
    enum Work {
        /// Numbered values of so many bytes, by the address of the central that each is for; `nil` for all.
        ///
        /// With an interval, only the newest of them counts.
        case values(size: Int, counts: [String?: Int], intervalInMilliseconds: Int? = nil)

        /// The document that is in this file.
        case document(path: String)
    }

    private static let command = "--bulk"

    var work: Work
    var centrals: Int
    /// Whether values count as having left as soon as they are handed over.
    var isUnbounded = false

    init(_ work: Work, centrals: Int, isUnbounded: Bool = false) {
        self.work = work
        self.centrals = centrals
        self.isUnbounded = isUnbounded
    }

    /// `nil` when this is not the program that is meant.
    init?(arguments: [String]) {
        guard arguments.count >= 6, arguments[1] == Self.command, let centrals = Int(arguments[3]) else {
            return nil
        }
        isUnbounded = arguments[2] == "unbounded"
        self.centrals = centrals
        guard arguments[4] == "values", let size = Int(arguments[5]) else {
            work = .document(path: arguments[5])
            return
        }
        var counts: [String?: Int] = [:]
        for word in arguments.dropFirst(7) {
            let parts = word.split(separator: "=")
            counts[parts.count > 1 ? String(parts[0]) : nil] = parts.last.flatMap { Int($0) } ?? 0
        }
        work = .values(size: size, counts: counts, intervalInMilliseconds: Int(arguments[6]))
    }

    /// The arguments of the program, without its name.
    var arguments: [String] {
        let head = [Self.command, isUnbounded ? "unbounded" : "paced", "\(centrals)"]
        switch work {
        case .document(let path): return head + ["document", path]
        case .values(let size, let counts, let interval):
            let words = counts.map { address, count in (address.map { $0 + "=" } ?? "") + "\(count)" }
            return head + ["values", "\(size)", interval.map { "\($0)" } ?? "-"] + words
        }
    }
}
