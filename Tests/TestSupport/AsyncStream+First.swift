extension AsyncStream where Element: Sendable {
    /// The first element from here on.
    package func first() async -> Element? {
        await first { _ in true }
    }
}
