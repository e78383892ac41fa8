/// The reason why a value does not fit into an Eddystone frame.
public struct EddystoneError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and which values are possible.
    public let message: String

    /// The message.
    public var description: String { message }
}
