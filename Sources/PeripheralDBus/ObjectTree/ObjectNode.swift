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
    let object: ExportedObject
    let path: OwnedText
    /// The position in the order of export.
    let sequence: Int
    private let layout: ObjectLayout

    init(_ object: ExportedObject, sequence: Int, layout: ObjectLayout) {
        self.object = object
        self.sequence = sequence
        self.layout = layout
        path = OwnedText(object.path.text)
    }

    /// Returns a method and its handler, or `nil` if there is none.
    ///
    /// D-Bus allows a call without an interface. Then `interface` is `nil`, and any interface matches.
    func method(
        _ interface: UnsafePointer<CChar>?,
        _ member: UnsafePointer<CChar>
    ) -> (ObjectLayout.Method, ExportedMethod.Handler)? {
        for (place, candidate) in layout.interfaces.enumerated() {
            if let interface = unsafe interface, unsafe !candidate.name.equals(interface) { continue }
            for (index, method) in candidate.methods.enumerated() where unsafe method.name.equals(member) {
                return (method, object.interfaces[place].methods[index].handler)
            }
        }
        return nil
    }

    func hasInterface(_ name: String) -> Bool {
        object.interfaces.contains { $0.name.text == name }
    }
}
