/// Why services cannot stand in one attribute table.
public struct AttributeTableError: Error, Hashable, Sendable {
    /// What is wrong.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case handlesExhausted, handleCollision, invalidInclude, reservedHandle
        }

        private let kind: Kind

        /// There are more attributes than handles.
        public static let handlesExhausted = Code(kind: .handlesExhausted)
        /// A service is pinned to handles of which another has some.
        public static let handleCollision = Code(kind: .handleCollision)
        /// A service includes one that does not stand before it.
        public static let invalidInclude = Code(kind: .invalidInclude)
        /// The first handle, or that of a service, is 0x0000, which is reserved.
        public static let reservedHandle = Code(kind: .reservedHandle)
    }

    /// What is wrong.
    public var code: Code
    /// The index of the service at fault; `nil` when none is.
    public var service: Int?
    /// The particulars, for people.
    public var message: String

    static func handlesExhausted(service uuid: BluetoothUUID, at index: Int) -> AttributeTableError {
        AttributeTableError(
            code: .handlesExhausted,
            service: index,
            message: """
                service \(uuid) (the one at index \(index)) finds no room: the handles end at 0xffff
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
                service \(uuid) (the one at index \(index)) takes the handles \(range.lowerBound) through \
                \(range.upperBound), of which service \(other) has some
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
                which does not stand before it
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
