internal import CPeripheralDBus

/// A text with a fixed grammar.
///
/// libdbus checks it. A text that libdbus rejects could not be sent.
package protocol BusText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral
where StringLiteralType == StaticString {
    /// The kind, for error messages.
    static var kind: String { get }
    static func isValid(_ text: UnsafePointer<CChar>) -> Bool

    var text: String { get }
    init(unchecked text: String)
}

extension BusText {
    package init(_ text: String) throws(BusError) {
        let isValid = unsafe text.withCString { pointer in unsafe Self.isValid(pointer) }
        guard isValid, !text.utf8.contains(0) else {
            throw BusError.invalidName(kind: Self.kind, value: text)
        }
        self.init(unchecked: text)
    }

    /// Creates a text from a literal.
    ///
    /// An invalid literal is a mistake in the source.
    package init(stringLiteral: StaticString) {
        let text = stringLiteral.description
        let isValid = unsafe text.withCString { pointer in unsafe Self.isValid(pointer) }
        precondition(isValid, "the literal is not a valid D-Bus name of its kind; correct it in the source")
        self.init(unchecked: text)
    }

    package var description: String { text }
}

/// The path of an object, such as `/org/bluez/hci0`.
package struct ObjectPath: BusText {
    package static let kind = "object path"
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_validate_path(text, nil) != 0
    }

    /// Returns the path with one more element.
    ///
    /// - Throws: ``BusError/invalidName(kind:value:)`` unless `element` consists of letters, digits and
    ///   underscores.
    package func appending(_ element: String) throws(BusError) -> ObjectPath {
        let longer = text == "/" ? "/\(element)" : "\(text)/\(element)"
        // libdbus checks only the whole path, so it would accept several elements, or none below the root.
        guard !element.isEmpty, !element.utf8.contains(UInt8(ascii: "/")) else {
            throw .invalidName(kind: Self.kind, value: longer)
        }
        return try ObjectPath(longer)
    }

    /// Returns whether this path is below `root`.
    ///
    /// A path is not below itself.
    package func isBelow(_ root: ObjectPath) -> Bool {
        if root.text == "/" { return text != "/" }
        return text.utf8.count > root.text.utf8.count + 1
            && text.utf8.starts(with: root.text.utf8)
            && text.utf8[text.utf8.index(text.utf8.startIndex, offsetBy: root.text.utf8.count)]
                == UInt8(ascii: "/")
    }
}

/// The name of an interface, such as `org.freedesktop.DBus.Properties`.
package struct InterfaceName: BusText {
    package static let kind = "interface name"
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_validate_interface(text, nil) != 0
    }
}

/// The name of a method, a signal or a property.
package struct MemberName: BusText {
    package static let kind = "member name"
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_validate_member(text, nil) != 0
    }
}

/// The name of an error, such as `org.freedesktop.DBus.Error.Failed`.
package struct ErrorName: BusText {
    package static let kind = "error name"
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_validate_error_name(text, nil) != 0
    }
}

/// The name of a program on the bus.
///
/// A unique name, such as `:1.42`, or a well-known one, such as `org.bluez`.
package struct BusName: BusText {
    package static let kind = "bus name"
    package static let bus: BusName = "org.freedesktop.DBus"
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_validate_bus_name(text, nil) != 0
    }

    package var isUnique: Bool { text.utf8.first == UInt8(ascii: ":") }
}
