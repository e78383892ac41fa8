internal import CPeripheralDBus

/// A message under construction, which is released unless it is sent.
@safe
struct OutgoingMessage: ~Copyable {
    let pointer: OpaquePointer

    private init(adopting pointer: OpaquePointer?) throws(BusError) {
        guard let pointer = unsafe pointer else { throw .limitExceeded("no memory for the message") }
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe dbus_message_unref(pointer)
    }

    static func methodCall(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName
    ) throws(BusError) -> OutgoingMessage {
        try unsafe OutgoingMessage(
            adopting: dbus_message_new_method_call(destination.text, path.text, interface.text, member.text)
        )
    }

    static func signal(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName
    ) throws(BusError) -> OutgoingMessage {
        try unsafe OutgoingMessage(adopting: dbus_message_new_signal(path.text, interface.text, member.text))
    }

    static func methodReturn(to call: OpaquePointer) throws(BusError) -> OutgoingMessage {
        try unsafe OutgoingMessage(adopting: dbus_message_new_method_return(call))
    }

    static func error(_ error: MethodError, to call: OpaquePointer) throws(BusError) -> OutgoingMessage {
        // A zero byte, which a D-Bus string cannot contain, is removed so that the reply can still be sent.
        let text = String(decoding: error.message.utf8.filter { $0 != 0 }, as: UTF8.self)
        return try unsafe OutgoingMessage(adopting: dbus_message_new_error(call, error.name.text, text))
    }

    /// Appends arguments, or throws for a value that cannot be sent.
    func write(_ body: (inout MessageWriter) -> Void) throws(BusError) {
        var writer = unsafe MessageWriter(pointer)
        body(&writer)
        if let failure = writer.failure { throw failure }
    }
}
