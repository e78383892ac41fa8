extension BusConnection {
    /// Exports an object on the bus.
    ///
    /// An object manager above it announces it with `InterfacesAdded`.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` when the path is already exported or a declaration is invalid.
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

    /// Removes an object from the bus.
    ///
    /// An object manager above it announces the removal with `InterfacesRemoved`.
    ///
    /// - Returns: `false` when there is no such object.
    @discardableResult
    package func withdraw(_ path: ObjectPath) -> Bool {
        guard let object = tree.remove(path) else { return false }
        if let manager = tree.manager(of: path) {
            // If the connection has ended, there is no receiver.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(object.interfaces.map(\.name.text)))
            }
        }
        return true
    }

    /// Removes interfaces from an object, and the object with its last interface.
    ///
    /// An object manager above it announces the removal with `InterfacesRemoved`.
    package func withdraw(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
        guard tree.remove(interfaces, from: path) else { return }
        if let manager = tree.manager(of: path) {
            // If the connection has ended, there is no receiver.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(interfaces.map(\.text)))
            }
        }
    }

    /// Replaces the error messages for calls that match no object.
    package func wordRefusals(_ wording: @escaping CallMismatch.Wording) {
        tree.wording = wording
    }

    /// Adds `org.freedesktop.DBus.ObjectManager` to the object at `root`, which does not have to be exported.
    ///
    /// The object manager lists all objects below it, in the order of their export.
    package func exportObjectManager(at root: ObjectPath) throws(BusError) {
        guard phase == .open else { throw .disconnected }
        tree.addManager(root)
    }

    /// Removes an object manager.
    ///
    /// The objects below it stay.
    package func withdrawObjectManager(at root: ObjectPath) {
        tree.removeManager(root)
    }
}
