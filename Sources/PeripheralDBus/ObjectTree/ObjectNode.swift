internal import CPeripheralDBus
internal import Glibc

/// A C string that is owned here, for comparison with texts in messages.
@safe
final class OwnedText {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        unsafe pointer = text.withCString { source in
            let count = unsafe strlen(source) + 1
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count)
            unsafe copy.update(from: source, count: count)
            return unsafe UnsafePointer(copy)
        }
    }

    deinit {
        unsafe UnsafeMutablePointer(mutating: pointer).deallocate()
    }

    func equals(_ other: UnsafePointer<CChar>) -> Bool {
        unsafe strcmp(pointer, other) == 0
    }
}

/// A path as a dictionary key, which is hashed and compared in place without a copy.
///
/// A key in the table points into the node that is its value, and lives as long as that node.
@safe
struct PathKey: Hashable {
    private let pointer: UnsafePointer<CChar>
    private let count: Int

    init(_ pointer: UnsafePointer<CChar>) {
        unsafe self.pointer = unsafe pointer
        unsafe count = strlen(pointer)
    }

    func hash(into hasher: inout Hasher) {
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: pointer, count: count))
    }

    static func == (left: PathKey, right: PathKey) -> Bool {
        unsafe left.count == right.count && memcmp(left.pointer, right.pointer, left.count) == 0
    }
}

/// The owner of a bus name, stored for comparison with the sender of each call in place.
final class NameOwner {
    let name: BusName
    private var owner: OwnedText?

    init(_ name: BusName) {
        self.name = name
    }

    func set(_ owner: BusName?) {
        self.owner = owner.map { OwnedText($0.text) }
    }

    /// Returns whether the owner sent a message.
    ///
    /// The bus guarantees the unique name of the sender.
    func hasSent(_ message: OpaquePointer) -> Bool {
        guard let owner, let sender = unsafe dbus_message_get_sender(message) else { return false }
        return unsafe owner.equals(sender)
    }
}

/// An exported object, prepared for dispatch.
final class ObjectNode {
    final class Method {
        let name: OwnedText
        let input: OwnedText
        let declaration: ExportedMethod
        let handler: ExportedMethod.Handler
        let callers: NameOwner?

        init(_ declaration: ExportedMethod, callers: NameOwner?) {
            self.callers = callers
            name = OwnedText(declaration.name.text)
            input = OwnedText(declaration.input.text)
            handler = declaration.handler
            self.declaration = declaration
        }
    }

    final class Interface {
        let name: OwnedText
        let methods: [Method]

        init(_ declaration: ExportedInterface, callers: NameOwner?) {
            name = OwnedText(declaration.name.text)
            methods = declaration.methods.map { Method($0, callers: callers) }
        }
    }

    let object: ExportedObject
    let path: OwnedText
    /// The position in the order of export.
    let sequence: Int
    private let interfaces: [Interface]

    init(_ object: ExportedObject, sequence: Int, owner: (BusName) -> NameOwner) {
        self.object = object
        self.sequence = sequence
        path = OwnedText(object.path.text)
        interfaces = object.interfaces.map { Interface($0, callers: $0.callers.map(owner)) }
    }

    /// Returns a method, or `nil` if there is none.
    ///
    /// D-Bus allows a call without an interface. Then `interface` is `nil`, and any interface matches.
    func method(_ interface: UnsafePointer<CChar>?, _ member: UnsafePointer<CChar>) -> Method? {
        for candidate in interfaces {
            if let interface = unsafe interface, unsafe !candidate.name.equals(interface) { continue }
            for method in candidate.methods where unsafe method.name.equals(member) { return method }
        }
        return nil
    }

    func hasInterface(_ name: String) -> Bool {
        object.interfaces.contains { $0.name.text == name }
    }
}
