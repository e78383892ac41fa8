internal import CPeripheralDBus

/// A received method call or signal, valid while its handler runs.
///
/// Nothing is copied until it is requested.
@safe
package struct IncomingMessage: ~Copyable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    /// A reader at the first argument.
    package var arguments: MessageReader {
        unsafe MessageReader(pointer)
    }

    /// The called object, or the object that sends the signal.
    package var path: BorrowedText { unsafe text(dbus_message_get_path(pointer)) }
    package var interface: BorrowedText { unsafe text(dbus_message_get_interface(pointer)) }
    package var member: BorrowedText { unsafe text(dbus_message_get_member(pointer)) }
    package var signature: BorrowedText { unsafe text(dbus_message_get_signature(pointer)) }
    /// The sender's unique name, which the bus guarantees.
    package var sender: BorrowedText { unsafe text(dbus_message_get_sender(pointer)) }

    private func text(_ pointer: UnsafePointer<CChar>?) -> BorrowedText {
        if let pointer = unsafe pointer { unsafe BorrowedText(pointer) } else { BorrowedText.empty }
    }
}
