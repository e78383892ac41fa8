import ExampleSupport
import Synchronization

/// The output of the program: lines, and a bar for each upload in progress.
///
/// In a terminal, the bars are the last lines, and change in place. Otherwise, each quarter of a file is a
/// line.
final class ProgressBars: Sendable {
    private struct Bar {
        let name: String
        var quarters: Int
        var text: String
    }

    private static let width = 30
    private let bars = Mutex<[Bar]>([])
    /// The number of columns; `nil` if the output is not a terminal.
    private let columns: Int?

    init(columns: Int? = Terminal.size?.columns) {
        self.columns = columns
    }

    /// Prints a line above the bars.
    func print(_ line: String) {
        bars.withLock { insert(line, above: $0) }
    }

    func show(_ event: UploadEvent) {
        switch event {
        case .progress(let header, let length): update(header, length)
        case .interrupted(let header, let length):
            end(header, Self.bar(header, length) + ", interrupted")
        case .ended(let header, let answer):
            // The bar of a busy name belongs to another upload.
            end(
                answer == .busy ? nil : header,
                "drop:  \(header?.name.debugDescription ?? "an upload"): \(answer)."
            )
        case .failed(let failure): print("drop:  \(failure)")
        }
    }

    static func bar(_ header: FileHeader, _ length: UInt64) -> String {
        let fraction = header.length == 0 ? 1 : Double(length) / Double(header.length)
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(length) of \(header.length) bytes of \(header.name)"
    }

    private func update(_ header: FileHeader, _ length: UInt64) {
        let quarters = header.length == 0 ? 4 : Int(Double(length) / Double(header.length) * 4)
        let text = fitted(Self.bar(header, length))
        bars.withLock { bars in
            guard let index = bars.firstIndex(where: { $0.name == header.name }) else {
                bars.append(Bar(name: header.name, quarters: quarters, text: text))
                Terminal.print(text)
                return
            }
            let isNextQuarter = quarters != bars[index].quarters
            let isNextStep = text.prefix(Self.width + 2) != bars[index].text.prefix(Self.width + 2)
            guard isNextQuarter || (isNextStep && columns != nil) else { return }
            bars[index].quarters = quarters
            bars[index].text = text
            if columns != nil { Terminal.redraw(bars.map(\.text)) } else { Terminal.print(text) }
        }
    }

    /// Replaces the bar of an upload by a line.
    private func end(_ header: FileHeader?, _ line: String) {
        bars.withLock { bars in
            let index = bars.firstIndex { $0.name == header?.name }
            let ended = index.map { bars.remove(at: $0) }
            guard columns != nil, ended != nil else { return insert(line, above: bars) }
            Terminal.redraw([fitted(line)] + bars.map(\.text))
        }
    }

    private func insert(_ line: String, above bars: [Bar]) {
        guard columns != nil, let last = bars.last else { return Terminal.print(line) }
        Terminal.redraw([fitted(line)] + bars.dropLast().map(\.text))
        Terminal.print(last.text)
    }

    /// Shortens a line to one row of the terminal, so that the bars can be redrawn.
    private func fitted(_ line: String) -> String {
        columns.map { String(line.prefix($0)) } ?? line
    }
}
