import CPeripheralDBus

@testable import PeripheralDBus

/// A message of libdbus.
final class Message {
    let pointer: OpaquePointer

    private init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit {
        dbus_message_unref(pointer)
    }

    /// A signal without arguments.
    static func empty() -> Message {
        guard let message = Message(dbus_message_new_signal("/fuzz", "test.Fuzz", "Fuzz")) else {
            fatalError("there is no memory")
        }
        // What is sent has one, and libdbus takes no message without.
        dbus_message_set_serial(message.pointer, 1)
        return message
    }

    /// A message from the bytes of a socket; `nil` when libdbus refuses them.
    convenience init?(bytes: [UInt8]) {
        self.init(
            bytes.withUnsafeBytes { buffer in
                dbus_message_demarshal(buffer.baseAddress, CInt(buffer.count), nil)
            }
        )
    }

    /// A message with arguments of a signature; `nil` when libdbus refuses the bytes of these.
    convenience init?(signature: String, body: [UInt8]) {
        var header: [UInt8] = [UInt8(ascii: "l"), 4, 1, 1] + Self.number(UInt32(body.count)) + Self.number(1)
        let fields: [(UInt8, String, String)] = [
            (1, "o", "/fuzz"), (2, "s", "test.Fuzz"), (3, "s", "Fuzz"), (8, "g", signature),
        ]
        var array: [UInt8] = []
        for (code, type, value) in fields {
            while array.count % 8 != 0 { array.append(0) }
            array += [code, 1] + Array(type.utf8) + [0]
            array +=
                type == "g"
                ? [UInt8(truncatingIfNeeded: value.utf8.count)] : Self.number(UInt32(value.utf8.count))
            array += Array(value.utf8) + [0]
        }
        header += Self.number(UInt32(array.count)) + array
        while header.count % 8 != 0 { header.append(0) }
        self.init(bytes: header + body)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The bytes that a socket would get.
    var bytes: [UInt8] {
        dbus_message_lock(pointer)
        var start: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        guard dbus_message_marshal(pointer, &start, &count) != 0 else { return [] }
        defer { dbus_free(start) }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
    }
}
