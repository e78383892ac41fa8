extension Sequence {
    /// Returns the elements in a stable sort order.
    ///
    /// The method is intended for short sequences. Each use of the standard library's `sorted` with a new
    /// type adds 2 KB to a program.
    package func inOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
        var ordered: [Element] = []
        for element in self {
            var index = ordered.endIndex
            while index > 0, isBefore(element, ordered[index - 1]) { index -= 1 }
            ordered.insert(element, at: index)
        }
        return ordered
    }
}

extension Sequence where Element: Comparable {
    /// Returns the elements in a stable sort order.
    package func inOrder() -> [Element] {
        inOrder(by: <)
    }
}
