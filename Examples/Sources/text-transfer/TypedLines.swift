import Dispatch

/// The first text, and then each line that is typed.
func typedLines(after first: String) -> AsyncStream<String> {
    AsyncStream { lines in
        lines.yield(first)
        // Reading waits, which a thread of its own may.
        DispatchQueue(label: "typed lines").async {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}
