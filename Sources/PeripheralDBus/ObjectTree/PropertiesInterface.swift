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
