extension Array {
    /// Removes and returns the first element; `nil` if the array is empty.
    ///
    /// The move of the other elements is cheap for the short queues of this module. An array also needs less
    /// code than a separate type.
    mutating func popFirst() -> Element? {
        isEmpty ? nil : removeFirst()
    }
}
