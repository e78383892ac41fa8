internal import CPeripheralDBus
internal import Glibc

/// A C string that is owned here, to be compared with the texts of messages.
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

/// A path as a key: hashed and compared where it lies, so that a lookup copies nothing.
///
/// A key in the table points into the node beside it, and lives as long.
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

/// The owner of a bus name, kept so that the sender of each call can be compared with it in place.
final class NameOwner {
    let name: BusName
    private var owner: OwnedText?

    init(_ name: BusName) {
        self.name = name
    }

    func set(_ owner: BusName?) {
        self.owner = owner.map { OwnedText($0.text) }
    }

    /// Whether a message is the owner's; the bus vouches for the sender's unique name.
    func hasSent(_ message: OpaquePointer) -> Bool {
        guard let owner, let sender = unsafe dbus_message_get_sender(message) else { return false }
        return unsafe owner.equals(sender)
    }
}

/// An exported object, made ready for dispatch.
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
    /// The place in the order of export.
    let sequence: Int
    private let interfaces: [Interface]

    init(_ object: ExportedObject, sequence: Int, owner: (BusName) -> NameOwner) {
        self.object = object
        self.sequence = sequence
        path = OwnedText(object.path.text)
        interfaces = object.interfaces.map { Interface($0, callers: $0.callers.map(owner)) }
    }

    /// Finds a method; the interface is nil for any, as D-Bus allows in a call.
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
