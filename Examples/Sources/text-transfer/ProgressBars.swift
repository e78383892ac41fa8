import ExampleSupport
import PeripheralKit
import Synchronization

/// A progress bar for each central.
final class ProgressBars: Sendable {
    private struct State {
        var bars: [(name: String, progress: TransferProgress)] = []
        var drawn = 0
    }

    private static let width = 30
    private let state = Mutex(State())

    /// Shows the progress of a transfer.
    func show(_ progress: TransferProgress) {
        let name = progress.central.map { "\($0)" } ?? "all centrals"
        state.withLock { state in
            let index = state.bars.firstIndex { $0.name == name }
            if let index {
                state.bars[index].progress = progress
            } else {
                state.bars.append((name, progress))
            }
            // Phones use new addresses again and again. The latest are shown, as many as fit.
            let size = Terminal.size
            state.bars.removeFirst(max(0, state.bars.count - max(1, (size?.rows ?? 24) - 1)))
            guard size != nil else {
                // A file or a pipe gets only the end of each transfer.
                if progress.fraction == 1 { Terminal.print(Self.bar(name, progress)) }
                return
            }
            let bars = state.bars.map { Self.bar($0.name, $0.progress) }
            if state.drawn == bars.count { Terminal.redraw(bars) } else { Terminal.draw(bars) }
            state.drawn = bars.count
        }
    }

    static func bar(_ name: String, _ progress: TransferProgress) -> String {
        let filled = Int(progress.fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(progress.sent) of \(progress.total) bytes to \(name)"
    }
}
