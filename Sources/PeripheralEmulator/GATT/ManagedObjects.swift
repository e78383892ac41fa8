internal import PeripheralDBus

/// An interface of an object in the result of `GetManagedObjects`.
struct ManagedInterface {
    let path: ObjectPath
    let name: String
    let properties: BusValue

    /// Returns all interfaces of an `a{oa{sa{sv}}}`, in the order of the dictionary.
    static func list(_ answer: [BusValue]) -> [ManagedInterface] {
        guard answer.signature == "a{oa{sa{sv}}}", let objects = answer.first?.dictionary else { return [] }
        return objects.entries.flatMap { object -> [ManagedInterface] in
            guard let path = object.key.objectPath, let interfaces = object.value.dictionary else {
                return []
            }
            return interfaces.entries.compactMap { interface in
                interface.key.string.map {
                    ManagedInterface(path: path, name: $0, properties: interface.value)
                }
            }
        }
    }
}
