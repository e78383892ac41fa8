extension Array {
    /// Takes the first element out; `nil` when there is none.
    ///
    /// The others move up, which for the short queues of this module costs less than a type made for it adds to a program.
    mutating func popFirst() -> Element? {
        isEmpty ? nil : removeFirst()
    }
}
