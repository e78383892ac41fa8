extension ObjectTree {
    func getProperty(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        do throws(MethodError) {
            let (interface, name) = try names(call)
            let value = try property(interface, name, call).property.checkedValue()
            reply.send { $0.append(.variant(value)) }
        } catch {
            reply.fail(error)
        }
    }

    func setProperty(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        do throws(MethodError) {
            let (interface, name) = try names(call)
            let (property, callers) = try property(interface, name, call)
            guard let set = property.set else { throw error(.readOnlyProperty(property.name), call) }
            if let callers, unsafe !owner(of: callers).hasSent(call.pointer) {
                throw MethodError(.accessDenied, "only the owner of \(callers) may set this property")
            }
            try set(argument(of: property, call))
            reply.send()
        } catch {
            reply.fail(error)
        }
    }

    func getAllProperties(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        var arguments = call.arguments
        let interface = (try? arguments.readString()) ?? ""
        do throws(MethodError) {
            let properties = try interfaces(named: interface, call).flatMap(\.properties)
            reply.send { $0.appendAll(properties) }
        } catch {
            reply.fail(error)
        }
    }

    private func names(_ call: borrowing IncomingMessage) throws(MethodError) -> (
        interface: String, name: String
    ) {
        var arguments = call.arguments
        do throws(BusError) {
            return (try arguments.readString(), try arguments.readString())
        } catch {
            throw MethodError(.invalidArguments, error.description)
        }
    }

    private func property(
        _ interface: String,
        _ name: String,
        _ call: borrowing IncomingMessage
    ) throws(MethodError) -> (property: ExportedProperty, callers: BusName?) {
        for candidate in try interfaces(named: interface, call) {
            for property in candidate.properties where property.name.text == name {
                return (property, candidate.callers)
            }
        }
        throw error(.unknownProperty(name, interface: interface), call)
    }

    /// Returns the named interface, or all interfaces of the object for an empty name, as D-Bus allows.
    private func interfaces(
        named name: String,
        _ call: borrowing IncomingMessage
    ) throws(MethodError) -> [ExportedInterface] {
        guard let path = try? ObjectPath(call.path.string) else { return [] }
        let node = node(path)
        let declared = node?.object.interfaces ?? []
        if name.isEmpty { return declared }
        let meant = declared.filter { $0.name.text == name }
        let isStandard = standardInterfaces(at: path, isExported: node != nil).contains { $0.text == name }
        guard isStandard || !meant.isEmpty else {
            throw error(.unknownPropertyInterface(name), call)
        }
        return meant
    }

    /// Returns the value in a call of `Set`.
    private func argument(
        of property: ExportedProperty,
        _ call: borrowing IncomingMessage
    ) throws(MethodError) -> BusValue {
        var arguments = call.arguments
        arguments.skip()
        arguments.skip()
        let signature = property.signature
        do throws(BusError) {
            return try arguments.readVariant { (value) throws(BusError) in
                guard value.signature == signature.text else {
                    throw .signatureMismatch(expected: signature.text, found: value.signature)
                }
                return try value.readValue()
            }
        } catch {
            throw self.error(.wrongPropertyType(property.name, found: error), call)
        }
    }
}

extension ExportedProperty {
    /// Returns the value, or throws if it does not have the declared type.
    func checkedValue() throws(MethodError) -> BusValue {
        let value = try get()
        guard value.signature == signature else {
            throw MethodError(
                .failed,
                "the property \(name) is declared as \"\(signature)\" but contains \"\(value.signature)\""
            )
        }
        return value
    }
}

extension MessageWriter {
    /// Appends an `a{sv}` of the properties that can currently be read.
    mutating func appendAll(_ properties: [ExportedProperty]) {
        appendProperties { entries in
            for property in properties {
                guard let value = try? property.checkedValue() else { continue }
                entries.appendProperty(property.name.text, property.signature) { $0.append(value) }
            }
        }
    }
}

// MARK: - org.freedesktop.DBus.ObjectManager

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

// MARK: - org.freedesktop.DBus.Introspectable

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
