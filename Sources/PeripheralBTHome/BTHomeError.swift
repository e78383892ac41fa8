/// The reason why a value does not fit into a BTHome packet.
public struct BTHomeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and which values are possible.
    public let message: String

    /// The message.
    public var description: String { message }
}
