/// The common functions of all declaration builders.
///
/// A builder collects a list of elements and supports `if`, `else` and `for`.
public protocol _ListBuilder: Sendable {
    /// The type of the collected elements.
    associatedtype Element
}

extension _ListBuilder {
    /// Joins the lists of elements.
    public static func buildBlock(_ parts: [Element]...) -> [Element] {
        parts.flatMap(\.self)
    }

    /// Supports `if` without `else`.
    public static func buildOptional(_ part: [Element]?) -> [Element] {
        part ?? []
    }

    /// Supports `if`.
    public static func buildEither(first part: [Element]) -> [Element] {
        part
    }

    /// Supports `else`.
    public static func buildEither(second part: [Element]) -> [Element] {
        part
    }

    /// Supports `for`.
    public static func buildArray(_ parts: [[Element]]) -> [Element] {
        parts.flatMap(\.self)
    }

    /// Supports `if #available`.
    public static func buildLimitedAvailability(_ part: [Element]) -> [Element] {
        part
    }
}
