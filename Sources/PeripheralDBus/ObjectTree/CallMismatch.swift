/// The reason why a call matches nothing in an object tree.
package enum CallMismatch: Sendable {
    case unknownObject
    case unknownInterface
    case unknownMethod
    case wrongArguments(expected: Signature)
    case unknownPropertyInterface(String)
    case unknownProperty(String, interface: String)
    case readOnlyProperty(MemberName)
    case wrongPropertyType(MemberName, found: BusError)

    /// Returns the error for the caller.
    ///
    /// The default explains the mismatch. A connection that emulates another program uses that program's
    /// messages.
    package typealias Wording = @Sendable (CallMismatch, RefusedCall) -> MethodError
}

/// The names in a refused call.
package struct RefusedCall: Sendable {
    package let path: String
    package let interface: String
    package let member: String
    package let signature: String

    init(_ call: borrowing IncomingMessage) {
        path = call.path.string
        interface = call.interface.string
        member = call.member.string
        signature = call.signature.string
    }
}

extension CallMismatch {
    /// Explains the mismatch to the developers of the caller.
    static let explanation: Wording = { mismatch, call in
        switch mismatch {
        case .unknownObject:
            return MethodError(.unknownObject, "there is no object \(call.path)")
        case .unknownInterface:
            return MethodError(
                .unknownInterface,
                "the object \(call.path) has no interface \(call.interface)"
            )
        case .unknownMethod:
            return MethodError(.unknownMethod, "the object \(call.path) has no method \(call.member)")
        case .wrongArguments(let expected):
            let expectation = expected.text.isEmpty ? "no arguments" : "arguments of type \"\(expected)\""
            let found = call.signature.isEmpty ? "none" : "\"\(call.signature)\""
            return MethodError(.invalidArguments, "\(call.member) takes \(expectation), not \(found)")
        case .unknownPropertyInterface(let name):
            return MethodError(.unknownInterface, "the object \(call.path) has no interface \"\(name)\"")
        case .unknownProperty(let name, let interface):
            return MethodError(
                .unknownProperty,
                "the object \(call.path) has no property \(name) in interface \"\(interface)\""
            )
        case .readOnlyProperty(let name):
            return MethodError(.propertyReadOnly, "the property \(name) cannot be set")
        case .wrongPropertyType(let name, let found):
            return MethodError(.invalidArguments, "the property \(name): \(found)")
        }
    }
}
