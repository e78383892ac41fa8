extension Sequence {
    /// The elements in order; those of the same place keep theirs.
    ///
    /// For short sequences: each type that the standard library's `sorted` is used for adds 2 KB to a program.
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
    /// The elements in order, as ``inOrder(by:)``.
    package func inOrder() -> [Element] {
        inOrder(by: <)
    }
}
