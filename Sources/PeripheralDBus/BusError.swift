/// Why something on the bus did not happen.
package enum BusError: Error, Sendable, Equatable {
    /// The other side answered with an error.
    case remote(name: String, message: String)
    /// No answer came in time.
    case timedOut
    /// The connection is closed or lost.
    case disconnected
    /// The waiting task was cancelled.
    case cancelled
    /// No bus answers at the address.
    case connectionFailed(address: String, reason: String)
    /// A value has another type than the one that was asked for.
    case signatureMismatch(expected: String, found: String)
    /// A name does not follow the D-Bus grammar of its kind.
    case invalidName(kind: String, value: String)
    /// A value cannot be sent or is not allowed here.
    case invalidValue(String)
    /// A message is larger or deeper than what is accepted.
    case limitExceeded(String)
}

extension BusError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .remote(let name, let message): "\(name): \(message)"
        case .timedOut: "no answer came in time"
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

/// The answer of a method or a property that refuses: a D-Bus error.
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
