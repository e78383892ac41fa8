internal import CPeripheralDBus

/// The objects that a connection exports, and the replies to every call to them.
///
/// Belongs to its ``BusConnection`` and is used on the loop only.
@safe
final class ObjectTree {
    private(set) var nodes: [PathKey: ObjectNode] = [:]
    private var nextSequence = 0
    private(set) var managers: Set<ObjectPath> = []
    private var owners: [BusName: NameOwner] = [:]
    /// The different layouts of the objects so far.
    private var layouts: [ObjectLayout] = []
    var wording = CallMismatch.explanation

    /// The exported objects in the order of their export.
    var objects: [ExportedObject] {
        nodes.values.sorted { $0.sequence < $1.sequence }.map(\.object)
    }

    func node(_ path: ObjectPath) -> ObjectNode? {
        unsafe path.text.withCString { unsafe nodes[PathKey($0)] }
    }

    func add(_ object: ExportedObject) throws(BusError) {
        guard node(object.path) == nil else { throw .invalidValue("\(object.path) is already exported") }
        try object.validate()
        let node = ObjectNode(object, sequence: nextSequence, layout: layout(of: object.interfaces))
        nextSequence += 1
        unsafe nodes[PathKey(node.path.pointer)] = node
    }

    func remove(_ path: ObjectPath) -> ExportedObject? {
        guard let node = node(path) else { return nil }
        unsafe nodes[PathKey(node.path.pointer)] = nil
        return node.object
    }

    /// - Returns: `false` when there is no such object.
    func remove(_ interfaces: [InterfaceName], from path: ObjectPath) -> Bool {
        guard let node = node(path) else { return false }
        unsafe nodes[PathKey(node.path.pointer)] = nil
        var object = node.object
        object.interfaces.removeAll { interfaces.contains($0.name) }
        if !object.interfaces.isEmpty {
            let layout = layout(of: object.interfaces)
            let rest = ObjectNode(object, sequence: node.sequence, layout: layout)
            unsafe nodes[PathKey(rest.path.pointer)] = rest
        }
        return true
    }

    private func layout(of interfaces: [ExportedInterface]) -> ObjectLayout {
        if let known = layouts.first(where: { $0.describes(interfaces) }) { return known }
        let layout = ObjectLayout(interfaces, owner: owner(of:))
        layouts.append(layout)
        return layout
    }

    /// Returns the owner of a name, as far as the connection watches the name.
    func owner(of name: BusName) -> NameOwner {
        if let owner = owners[name] { return owner }
        let owner = NameOwner(name)
        owners[name] = owner
        return owner
    }

    func removeAll() {
        nodes = [:]
        managers = []
        owners = [:]
        layouts = []
    }

    func addManager(_ root: ObjectPath) {
        managers.insert(root)
    }

    func removeManager(_ root: ObjectPath) {
        managers.remove(root)
    }

    /// Returns the nearest object manager above a path.
    func manager(of path: ObjectPath) -> ObjectPath? {
        managers.filter { path.isBelow($0) }.max { $0.text.utf8.count < $1.text.utf8.count }
    }
}

// MARK: - Dispatch

extension ObjectTree {
    /// Replies to a method call.
    ///
    /// Every call that expects a reply gets exactly one.
    func answer(_ call: OpaquePointer, on transport: Transport) {
        let message = unsafe IncomingMessage(call)
        let reply = unsafe Reply(to: call, on: transport)
        guard let path = unsafe dbus_message_get_path(call), let member = unsafe dbus_message_get_member(call)
        else {
            return reply.fail(MethodError(.failed, "the call names no object or no method"))
        }
        let interface = unsafe dbus_message_get_interface(call)
        let node = unsafe nodes[PathKey(path)]
        if let (method, handler) = unsafe node?.method(interface, member) {
            if let callers = method.callers, unsafe !callers.hasSent(call) {
                return reply.fail(
                    MethodError(.accessDenied, "only the owner of \(callers.name) may call this method")
                )
            }
            guard unsafe method.input.equals(dbus_message_get_signature(call)) else {
                return reply.fail(
                    error(.wrongArguments(expected: method.declaration.input), message)
                )
            }
            return handler(message, reply)
        }
        if let method = unsafe standardMethod(interface, member, at: message.path, node: node) {
            guard message.signature.equals(method.input.text) else {
                return reply.fail(error(.wrongArguments(expected: method.input), message))
            }
            return method.answer(self, message, reply)
        }
        unsafe reply.fail(error(mismatch(of: message, node: node, namesInterface: interface != nil), message))
    }

    /// Returns the called standard method, if the object has it.
    private func standardMethod(
        _ interface: UnsafePointer<CChar>?,
        _ member: UnsafePointer<CChar>,
        at path: borrowing BorrowedText,
        node: ObjectNode?
    ) -> StandardMethod? {
        for method in StandardMethod.all {
            guard unsafe BorrowedText(member).equals(method.name.text) else { continue }
            if let interface = unsafe interface, unsafe !BorrowedText(interface).equals(method.interface.text)
            {
                continue
            }
            return isOffered(method.interface, at: path, node: node) ? method : nil
        }
        return nil
    }

    private func isOffered(_ interface: InterfaceName, at path: borrowing BorrowedText, node: ObjectNode?)
        -> Bool
    {
        if interface == .peer { return true }
        guard let path = try? ObjectPath(path.string) else { return false }
        return standardInterfaces(at: path, isExported: node != nil).contains(interface)
    }

    /// Returns the standard interfaces of an object, or none if the object does not exist.
    func standardInterfaces(at path: ObjectPath, isExported: Bool) -> [InterfaceName] {
        let isManager = managers.contains(path)
        guard isExported || isManager || isIntermediate(path) else { return [] }
        var interfaces: [InterfaceName] = [.peer, .introspectable]
        if isExported || isManager { interfaces.append(.properties) }
        if isManager { interfaces.append(.objectManager) }
        return interfaces
    }

    /// Returns whether the path leads to an object.
    ///
    /// The root always does.
    private func isIntermediate(_ path: ObjectPath) -> Bool {
        path.text == "/"
            || nodes.values.contains { $0.object.path.isBelow(path) }
            || managers.contains { $0.isBelow(path) }
    }

    /// Returns the error for a refused call.
    func error(_ mismatch: CallMismatch, _ call: borrowing IncomingMessage) -> MethodError {
        wording(mismatch, RefusedCall(call))
    }

    private func mismatch(
        of call: borrowing IncomingMessage,
        node: ObjectNode?,
        namesInterface: Bool
    ) -> CallMismatch {
        let interface = call.interface.string
        let path = try? ObjectPath(call.path.string)
        let standard = path.map { standardInterfaces(at: $0, isExported: node != nil) } ?? []
        if standard.isEmpty { return .unknownObject }
        let isKnown = node?.hasInterface(interface) == true || standard.contains { $0.text == interface }
        return namesInterface && !isKnown ? .unknownInterface : .unknownMethod
    }
}
