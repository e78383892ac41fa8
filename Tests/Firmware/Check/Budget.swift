import Glibc

/// What the firmware may use; each figure is printed with what it may be.
struct Budget {
    private(set) var isKept = true

    mutating func check(_ what: String, _ figure: Double, atMost limit: Double, _ unit: String) {
        let isKept = figure <= limit
        let word = isKept ? "ok  " : "FAIL"
        print("\(word) \(what): \(Self.text(figure)) \(unit) of at most \(Self.text(limit))")
        fflush(nil)
        if !isKept { self.isKept = false }
    }

    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
