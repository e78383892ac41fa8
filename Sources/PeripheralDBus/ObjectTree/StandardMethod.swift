internal import CPeripheralDBus

extension InterfaceName {
    package static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    package static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    package static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
    package static let peer: InterfaceName = "org.freedesktop.DBus.Peer"
}

extension MemberName {
    package static let propertiesChanged: MemberName = "PropertiesChanged"
}

/// A method that the tree implements for its objects.
struct StandardMethod: Sendable {
    typealias Answer = @Sendable (ObjectTree, borrowing IncomingMessage, consuming Reply) -> Void

    let interface: InterfaceName
    let name: MemberName
    let input: Signature
    let output: Signature
    let answer: Answer

    static let all = [
        StandardMethod(interface: .properties, name: "Get", input: "ss", output: "v") {
            $0.getProperty($1, $2)
        },
        StandardMethod(interface: .properties, name: "Set", input: "ssv", output: "") {
            $0.setProperty($1, $2)
        },
        StandardMethod(interface: .properties, name: "GetAll", input: "s", output: "a{sv}") {
            $0.getAllProperties($1, $2)
        },
        StandardMethod(
            interface: .objectManager,
            name: "GetManagedObjects",
            input: "",
            output: "a{oa{sa{sv}}}"
        ) { $0.getManagedObjects($1, $2) },
        StandardMethod(interface: .introspectable, name: "Introspect", input: "", output: "s") {
            $0.introspect($1, $2)
        },
        StandardMethod(interface: .peer, name: "Ping", input: "", output: "") { $2.send() },
        StandardMethod(interface: .peer, name: "GetMachineId", input: "", output: "s") {
            $0.getMachineIdentifier($2)
        },
    ]

    static let signals: [(interface: InterfaceName, signal: ExportedSignal)] = [
        (.properties, ExportedSignal(.propertiesChanged, "sa{sv}as")),
        (.objectManager, ExportedSignal("InterfacesAdded", "oa{sa{sv}}")),
        (.objectManager, ExportedSignal("InterfacesRemoved", "oas")),
    ]
}

extension ObjectTree {
    fileprivate func getMachineIdentifier(_ reply: consuming Reply) {
        guard let text = unsafe dbus_try_get_local_machine_id(nil) else {
            return reply.fail(MethodError(.failed, "this machine has no machine ID"))
        }
        defer { unsafe dbus_free(text) }
        let identifier = unsafe String(cString: text)
        reply.send { $0.append(identifier) }
    }
}
