extension Array {
    /// Removes and returns the first element; `nil` if the array is empty.
    ///
    /// Moving the other elements is cheap for the short queues of this module, and smaller in code than a
    /// separate type.
    mutating func popFirst() -> Element? {
        isEmpty ? nil : removeFirst()
    }
}
