/// An error that prevents the creation of an attribute table from a list of services.
public struct AttributeTableError: Error, Hashable, Sendable {
    /// The kind of the error.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case handlesExhausted, handleCollision, invalidInclude, reservedHandle
        }

        private let kind: Kind

        /// The number of attributes exceeds the number of available handles.
        public static let handlesExhausted = Code(kind: .handlesExhausted)
        /// The handles of a pinned service overlap the handles of another service.
        public static let handleCollision = Code(kind: .handleCollision)
        /// A service includes itself, a later service, or a service that is not listed.
        public static let invalidInclude = Code(kind: .invalidInclude)
        /// The table or a pinned service begins at the reserved handle 0x0000.
        public static let reservedHandle = Code(kind: .reservedHandle)
    }

    /// The kind of the error.
    public var code: Code
    /// The index of the service that causes the error.
    ///
    /// The index is `nil` if no single service causes the error.
    public var service: Int?
    /// The details of the error as human-readable text.
    public var message: String

    package static func handlesExhausted(service uuid: BluetoothUUID, at index: Int) -> AttributeTableError {
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

    package static func handlesOccupied(
        _ range: ClosedRange<AttributeHandle>,
        service uuid: BluetoothUUID,
        at index: Int
    ) -> AttributeTableError {
        AttributeTableError(
            code: .handleCollision,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) needs the handles \(range.lowerBound) through \
                \(range.upperBound), which overlap the handles of a present service
                """
        )
    }

    package static func noPlace(service uuid: BluetoothUUID, at index: Int) -> AttributeTableError {
        AttributeTableError(
            code: .handlesExhausted,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) does not fit: there are too few free handles below \
                0x0400, and handles from there on freeze the Database Hash
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
            message: "the handle 0x0000 is reserved. Use the handle 0x0001 or a higher handle"
        )
    }
}

extension AttributeTableError: CustomStringConvertible {
    /// The message.
    public var description: String {
        message
    }
}
