extension BusConnection {
    /// Shows an object on the bus.
    ///
    /// An object manager above it announces it with `InterfacesAdded`.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` when the path is taken or a declaration cannot be right.
    package func export(_ object: ExportedObject) throws(BusError) {
        guard phase == .open else { throw .disconnected }
        try tree.add(object)
        if let manager = tree.manager(of: object.path) {
            try emit(manager, .objectManager, "InterfacesAdded") { writer in
                writer.append(object.path)
                ObjectTree.appendInterfaces(of: object, to: &writer)
            }
        }
    }

    /// Takes an object off the bus.
    ///
    /// An object manager above it announces that with `InterfacesRemoved`.
    ///
    /// - Returns: False when there is no such object.
    @discardableResult
    package func withdraw(_ path: ObjectPath) -> Bool {
        guard let object = tree.remove(path) else { return false }
        if let manager = tree.manager(of: path) {
            // Nobody is left to tell when the connection is gone.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(object.interfaces.map(\.name.text)))
            }
        }
        return true
    }

    /// Takes interfaces off an object, and with the last one the object.
    ///
    /// An object manager above it announces that with `InterfacesRemoved`.
    package func withdraw(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
        guard tree.remove(interfaces, from: path) else { return }
        if let manager = tree.manager(of: path) {
            // Nobody is left to tell when the connection is gone.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(interfaces.map(\.text)))
            }
        }
    }

    /// Has calls that fit no object refused in other words than the tree's own.
    package func wordRefusals(_ wording: @escaping CallMismatch.Wording) {
        tree.wording = wording
    }

    /// Gives the object at `root`, which need not be exported, `org.freedesktop.DBus.ObjectManager`: it tells of all
    /// objects below, in the order of their export.
    package func exportObjectManager(at root: ObjectPath) throws(BusError) {
        guard phase == .open else { throw .disconnected }
        tree.addManager(root)
    }

    /// Takes an object manager away; the objects below it stay.
    package func withdrawObjectManager(at root: ObjectPath) {
        tree.removeManager(root)
    }
}
