extension ObjectTree {
    /// Describes the called object and lists its children, so that tools can walk the tree.
    func introspect(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        guard let path = try? ObjectPath(call.path.string) else {
            return reply.fail(.init(.unknownObject, ""))
        }
        let description = describe(path)
        reply.send { $0.append(description) }
    }

    private func describe(_ path: ObjectPath) -> String {
        let node = node(path)
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for name in standardInterfaces(at: path, isExported: node != nil) {
            text += "  <interface name=\"\(name)\">\n"
            for method in StandardMethod.all where method.interface == name {
                text += Self.describeMethod(method.name, method.input, method.output)
            }
            for (interface, signal) in StandardMethod.signals where interface == name {
                text += Self.describe(signal)
            }
            text += "  </interface>\n"
        }
        for interface in node?.object.interfaces ?? [] where !isStandard(interface) {
            text += Self.describe(interface)
        }
        for child in children(of: path) { text += "  <node name=\"\(child)\"/>\n" }
        return text + "</node>\n"
    }

    /// Returns whether an object declares the interface only for listings, because the tree serves it.
    private func isStandard(_ interface: ExportedInterface) -> Bool {
        interface.methods.isEmpty && StandardMethod.all.contains { $0.interface == interface.name }
    }

    /// Returns the next path elements below a path that lead to exported objects or object managers.
    private func children(of path: ObjectPath) -> [String] {
        let prefix = path.text == "/" ? 1 : path.text.utf8.count + 1
        var children: [String] = []
        for below in objects.map(\.path) + managers.sorted(by: { $0.text < $1.text })
        where below.isBelow(path) {
            let rest = below.text.utf8.dropFirst(prefix).prefix { $0 != UInt8(ascii: "/") }
            let child = String(decoding: rest, as: UTF8.self)
            if !children.contains(child) { children.append(child) }
        }
        return children
    }

    private static func describe(_ interface: ExportedInterface) -> String {
        var text = "  <interface name=\"\(interface.name)\">\n"
        for method in interface.methods { text += describeMethod(method.name, method.input, method.output) }
        for property in interface.properties {
            let access = property.set == nil ? "read" : "readwrite"
            text +=
                "    <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\"/>\n"
        }
        for signal in interface.signals { text += describe(signal) }
        return text + "  </interface>\n"
    }

    private static func describeMethod(_ name: MemberName, _ input: Signature, _ output: Signature) -> String
    {
        var text = "    <method name=\"\(name)\">\n"
        for type in input.elements { text += "      <arg type=\"\(type)\" direction=\"in\"/>\n" }
        for type in output.elements { text += "      <arg type=\"\(type)\" direction=\"out\"/>\n" }
        return text + "    </method>\n"
    }

    private static func describe(_ signal: ExportedSignal) -> String {
        var text = "    <signal name=\"\(signal.name)\">\n"
        for type in signal.signature.elements { text += "      <arg type=\"\(type)\"/>\n" }
        return text + "    </signal>\n"
    }
}

extension ExportedObject {
    /// Finds invalid declarations at export instead of at the first call.
    func validate() throws(BusError) {
        var names: Set<InterfaceName> = []
        for interface in interfaces {
            guard names.insert(interface.name).inserted else {
                throw .invalidValue("\(path) declares the interface \(interface.name) twice")
            }
            for property in interface.properties where !property.signature.isSingle {
                throw .signatureMismatch(expected: "the type of one value", found: property.signature.text)
            }
        }
    }
}
