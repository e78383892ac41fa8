internal import CPeripheralDBus

/// A text with a fixed grammar.
///
/// libdbus judges it: what it refuses could not be sent anyway.
package protocol BusText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral
where StringLiteralType == StaticString {
    /// The kind, as an error message names it.
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

    /// A literal is the program's own; a wrong one is a mistake in the source.
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

    /// The path below this one.
    ///
    /// - Throws: ``BusError/invalidName(kind:value:)`` unless `element` is of letters, digits and underscores.
    package func appending(_ element: String) throws(BusError) -> ObjectPath {
        let longer = text == "/" ? "/\(element)" : "\(text)/\(element)"
        // libdbus judges the whole path: it takes several elements, and below the root none.
        guard !element.isEmpty, !element.utf8.contains(UInt8(ascii: "/")) else {
            throw .invalidName(kind: Self.kind, value: longer)
        }
        return try ObjectPath(longer)
    }

    /// Whether this path lies below `root`; a path does not lie below itself.
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

/// The name of a participant of the bus: a unique one, such as `:1.42`, or a well-known one, such as `org.bluez`.
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
