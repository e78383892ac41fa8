import Dispatch

/// Each line that is typed, after a first one that is given.
package func typedLines(after first: String? = nil) -> AsyncStream<String> {
    AsyncStream { lines in
        if let first { lines.yield(first) }
        // Reading waits, which a thread of its own may.
        DispatchQueue(label: "typed lines").async {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}
