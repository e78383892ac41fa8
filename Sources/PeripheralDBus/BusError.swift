/// The reason why an operation on the bus failed.
package enum BusError: Error, Sendable, Equatable {
    /// The receiver of a D-Bus call returned an error.
    case remote(name: String, message: String)
    /// No reply to a D-Bus call arrived before the timeout.
    case timedOut
    /// The connection to the bus is closed or lost.
    case disconnected
    /// The task that was waiting for a reply was cancelled.
    case cancelled
    /// No bus is reachable at the given address.
    case connectionFailed(address: String, reason: String)
    /// The type of a D-Bus value differs from the requested type.
    case signatureMismatch(expected: String, found: String)
    /// The value is not a valid D-Bus name of the given kind, for example an interface name.
    case invalidName(kind: String, value: String)
    /// A value cannot be sent over D-Bus, or is not allowed for the operation.
    case invalidValue(String)
    /// A D-Bus message exceeds the maximum size or the maximum nesting depth.
    case limitExceeded(String)
}

extension BusError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .remote(let name, let message): "\(name): \(message)"
        case .timedOut: "no reply arrived in time"
        case .disconnected: "the bus connection is closed"
        case .cancelled: "the wait was cancelled"
        case .connectionFailed(let address, let reason): "cannot connect to the bus at \(address): \(reason)"
        case .signatureMismatch(let expected, let found):
            "expected \(quoted(expected)), found \(quoted(found))"
        case .invalidName(let kind, let value): "\"\(value)\" is not a valid \(kind)"
        case .invalidValue(let reason): reason
        case .limitExceeded(let reason): reason
        }
    }

    private func quoted(_ signature: String) -> String {
        signature.isEmpty ? "nothing" : "type \"\(signature)\""
    }
}

/// The D-Bus error that a method or a property returns when it refuses.
package struct MethodError: Error, Sendable, Equatable {
    package var name: ErrorName
    package var message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }
}

extension ErrorName {
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    package static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    package static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
}
