#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The standard output.
package enum Terminal {
    package struct Size {
        package var columns: Int
        package var rows: Int
    }

    /// The size of the terminal; `nil` when the standard output is not a terminal.
    package static var size: Size? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else {
            return nil
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes a line without buffering, also into a pipe.
    package static func print(_ line: String) {
        write(line + "\n")
    }

    /// Draws a picture below the current output.
    package static func draw(_ lines: [String]) {
        write(lines.map { $0 + "\n" }.joined())
    }

    /// Draws a picture over the previous one, which must have the same number of lines.
    package static func redraw(_ lines: [String]) {
        write("\u{1B}[\(lines.count)A" + lines.map { "\r\u{1B}[2K\($0)\n" }.joined())
    }

    package static func hideCursor() { write("\u{1B}[?25l") }

    /// Shows the cursor again at the start of its line, and removes the `^C` that Ctrl-C leaves.
    package static func showCursor() { write("\r\u{1B}[2K\u{1B}[?25h") }

    private static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}

/// A color of the terminal.
package enum Color: Int {
    case red = 31
    case green = 32

    package func around(_ text: String) -> String {
        "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}
