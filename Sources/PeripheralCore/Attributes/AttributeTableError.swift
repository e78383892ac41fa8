/// The reason why an attribute table cannot hold the services.
public struct AttributeTableError: Error, Hashable, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case handlesExhausted, handleCollision, invalidInclude, reservedHandle
        }

        private let kind: Kind

        /// There are more attributes than handles.
        public static let handlesExhausted = Code(kind: .handlesExhausted)
        /// The handles of a pinned service overlap the handles of another service.
        public static let handleCollision = Code(kind: .handleCollision)
        /// A service includes a service that is not before it in the list.
        public static let invalidInclude = Code(kind: .invalidInclude)
        /// The first handle or the handle of a service is 0x0000, which is reserved.
        public static let reservedHandle = Code(kind: .reservedHandle)
    }

    /// The kind of failure.
    public var code: Code
    /// The index of the service at fault, or `nil` if no service is at fault.
    public var service: Int?
    /// The details, for people to read.
    public var message: String

    static func handlesExhausted(service uuid: BluetoothUUID, at index: Int) -> AttributeTableError {
        AttributeTableError(
            code: .handlesExhausted,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) does not fit: there are no handles beyond 0xffff
                """
        )
    }

    package static func handleCollision(
        _ range: ClosedRange<AttributeHandle>,
        service uuid: BluetoothUUID,
        at index: Int,
        with other: BluetoothUUID
    ) -> AttributeTableError {
        AttributeTableError(
            code: .handleCollision,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) needs the handles \(range.lowerBound) through \
                \(range.upperBound), which overlap the handles of service \(other)
                """
        )
    }

    static func invalidInclude(
        _ included: Int,
        service uuid: BluetoothUUID,
        at index: Int
    ) -> AttributeTableError {
        AttributeTableError(
            code: .invalidInclude,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) includes the one at index \(included), \
                which does not come before it
                """
        )
    }

    static func reservedHandle(service index: Int? = nil) -> AttributeTableError {
        AttributeTableError(
            code: .reservedHandle,
            service: index,
            message: "the first handle is 0x0000, which is reserved; start at 0x0001 or above"
        )
    }
}

extension AttributeTableError: CustomStringConvertible {
    /// The message.
    public var description: String {
        message
    }
}
