public import PeripheralKit

/// A notification or indication that a central has received.
public struct ReceivedUpdate: Hashable, Sendable {
    /// The kind of the update: notification or indication.
    public var kind: UpdateKind

    /// The value.
    public var value: [UInt8]

    /// Creates a received update.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(kind: UpdateKind, value: [UInt8]) {
        self.kind = kind
        self.value = value
    }
}
