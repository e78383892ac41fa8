internal import PeripheralDBus

extension CallMismatch {
    /// The error messages of bluetoothd, which include messages of libdbus.
    static let bluetoothd: Wording = { mismatch, call in
        let nothing =
            "Method \"\(call.member)\" with signature \"\(call.signature)\" on interface "
            + "\"\(call.interface)\" doesn't exist\n"
        return switch mismatch {
        case .unknownObject: MethodError(.unknownObject, nothing)
        case .unknownInterface, .unknownMethod, .wrongArguments: MethodError(.unknownMethod, nothing)
        case .unknownPropertyInterface(let name):
            MethodError(.invalidArguments, "No such interface '\(name)'")
        case .unknownProperty(let name, _): MethodError(.invalidArguments, "No such property '\(name)'")
        case .readOnlyProperty(let name):
            MethodError(.propertyReadOnly, "Property '\(name)' is not writable")
        case .wrongPropertyType(let name, _):
            MethodError(
                "org.freedesktop.DBus.Error.InvalidSignature",
                "Invalid signature for '\(name)'"
            )
        }
    }
}
