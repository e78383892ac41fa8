import Dispatch

/// Returns the lines that are typed, after an optional first line.
package func typedLines(after first: String? = nil) -> AsyncStream<String> {
    AsyncStream { lines in
        if let first { lines.yield(first) }
        // Reading blocks, so it needs its own thread.
        DispatchQueue(label: "typed lines").async {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}
