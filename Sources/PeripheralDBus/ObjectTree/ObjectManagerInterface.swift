extension ObjectTree {
    /// Lists all objects below the called one, in the order of their export.
    ///
    /// BlueZ assigns attribute handles in this order.
    func getManagedObjects(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        let root = try? ObjectPath(call.path.string)
        let managed = objects.filter { object in root.map { object.path.isBelow($0) } ?? false }
        reply.send { writer in
            writer.appendArray(of: Self.managedObject) { array in
                for object in managed {
                    array.appendEntry { entry in
                        entry.append(object.path)
                        Self.appendInterfaces(of: object, to: &entry)
                    }
                }
            }
        }
    }

    /// Appends an `a{sa{sv}}`: the interfaces of an object with their properties.
    static func appendInterfaces(of object: ExportedObject, to writer: inout MessageWriter) {
        writer.appendArray(of: managedInterface) { array in
            for interface in object.interfaces {
                array.appendEntry { entry in
                    entry.append(interface.name.text)
                    entry.appendAll(interface.properties)
                }
            }
        }
    }

    private static let managedObject = Signature(unchecked: "{oa{sa{sv}}}")
    private static let managedInterface = Signature(unchecked: "{sa{sv}}")
}
