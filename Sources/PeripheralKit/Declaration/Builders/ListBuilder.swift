/// The functions that all declaration builders share.
///
/// A declaration builder collects a list of elements. A declaration builder supports `if`, `else` and `for`
/// statements.
public protocol _ListBuilder: Sendable {
    /// The type of the elements that the result builder collects.
    associatedtype Element
}

extension _ListBuilder {
    /// Joins several lists of elements into one list.
    public static func buildBlock(_ parts: [Element]...) -> [Element] {
        parts.flatMap(\.self)
    }

    /// Supports `if` statements without `else` in a declaration builder.
    public static func buildOptional(_ part: [Element]?) -> [Element] {
        part ?? []
    }

    /// Supports the `if` branch of `if`-`else` statements in a declaration builder.
    public static func buildEither(first part: [Element]) -> [Element] {
        part
    }

    /// Supports the `else` branch of `if`-`else` statements in a declaration builder.
    public static func buildEither(second part: [Element]) -> [Element] {
        part
    }

    /// Supports `for` loops in a declaration builder.
    public static func buildArray(_ parts: [[Element]]) -> [Element] {
        parts.flatMap(\.self)
    }

    /// Supports `if #available` statements in a declaration builder.
    public static func buildLimitedAvailability(_ part: [Element]) -> [Element] {
        part
    }
}
