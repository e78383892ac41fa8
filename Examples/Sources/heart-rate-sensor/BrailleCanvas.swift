/// A drawing made of dots, with two by four dots in each character.
struct BrailleCanvas {
    /// The size in dots.
    let width: Int
    let height: Int

    private let columns: Int
    private var cells: [UInt8]

    init(columns: Int, rows: Int) {
        self.columns = columns
        width = columns * 2
        height = rows * 4
        cells = [UInt8](repeating: 0, count: columns * rows)
    }

    /// Draws a vertical line from one row to another, including both.
    ///
    /// The part outside the canvas is left out.
    mutating func drawColumn(_ x: Int, from first: Int, to last: Int) {
        guard (0..<width).contains(x) else { return }
        for y in min(first, last)...max(first, last) where (0..<height).contains(y) {
            cells[y / 4 * columns + x / 2] |= Self.dots[y % 4][x % 2]
        }
    }

    /// The lines of the drawing as text.
    var lines: [String] {
        stride(from: 0, to: cells.count, by: columns).map { start in
            var line = ""
            for cell in cells[start..<start + columns] {
                // Some fonts show circles for the character without dots.
                line.unicodeScalars.append(cell == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(cell)) ?? " ")
            }
            return line
        }
    }

    /// The bit of each dot in a character of the block "Braille Patterns".
    private static let dots: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
}
