import ExampleSupport
import PeripheralKit
import Synchronization

/// The progress of the transfers, as a bar for each quarter of a text.
///
/// Each bar is a new line. To draw a bar again over the earlier one would overwrite the output in between,
/// and the text that the user types.
final class ProgressBars: Sendable {
    private static let width = 30
    /// The last reported progress of each central, in quarters of its text.
    private let reported = Mutex<[(name: String, quarters: Int)]>([])

    /// Prints the progress of a transfer if it has reached its next quarter.
    func show(_ progress: TransferProgress) {
        if let line = line(for: progress) { Terminal.print(line) }
    }

    /// Returns the bar to print; `nil` if the transfer has not reached its next quarter.
    func line(for progress: TransferProgress) -> String? {
        let name = progress.central.map { "\($0)" } ?? "all phones"
        let quarters = Int(progress.fraction * 4)
        // Each transfer begins with a report of 0 bytes.
        let earlier = reported.withLock { reported in
            let earlier = reported.firstIndex { $0.name == name }.map { reported.remove(at: $0).quarters }
            reported.append((name, quarters))
            // Phones use new addresses again and again. The latest are kept.
            if reported.count > 100 { reported.removeFirst() }
            return earlier
        }
        return quarters == 0 || quarters == earlier ? nil : Self.bar(name, progress)
    }

    static func bar(_ name: String, _ progress: TransferProgress) -> String {
        let filled = Int(progress.fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(progress.sent) of \(progress.total) bytes to \(name)"
    }
}
