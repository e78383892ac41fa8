extension ObjectTree {
    func getProperty(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        do throws(MethodError) {
            let (interface, name) = try names(call)
            let value = try property(interface, name, at: call.path.string).checkedValue()
            reply.send { $0.append(.variant(value)) }
        } catch {
            reply.fail(error)
        }
    }

    func setProperty(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        do throws(MethodError) {
            let (interface, name) = try names(call)
            let property = try property(interface, name, at: call.path.string)
            guard let set = property.set else {
                throw MethodError(.propertyReadOnly, "the property \(name) cannot be set")
            }
            try set(property.checkedArgument(call))
            reply.send()
        } catch {
            reply.fail(error)
        }
    }

    func getAllProperties(_ call: borrowing IncomingMessage, _ reply: consuming Reply) {
        var arguments = call.arguments
        let interface = (try? arguments.readString()) ?? ""
        do throws(MethodError) {
            let properties = try interfaces(named: interface, at: call.path.string).flatMap(\.properties)
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
        at path: String
    ) throws(MethodError) -> ExportedProperty {
        for candidate in try interfaces(named: interface, at: path) {
            for property in candidate.properties where property.name.text == name { return property }
        }
        throw MethodError(
            .unknownProperty,
            "the object \(path) has no property \(name) in interface \"\(interface)\""
        )
    }

    /// The interfaces meant: all of the object for an empty name, as D-Bus allows.
    private func interfaces(named name: String, at path: String) throws(MethodError) -> [ExportedInterface] {
        guard let path = try? ObjectPath(path) else { return [] }
        let node = node(path)
        let declared = node?.object.interfaces ?? []
        if name.isEmpty { return declared }
        let meant = declared.filter { $0.name.text == name }
        let isStandard = standardInterfaces(at: path, isExported: node != nil).contains { $0.text == name }
        guard isStandard || !meant.isEmpty else {
            throw MethodError(.unknownInterface, "the object \(path) has no interface \"\(name)\"")
        }
        return meant
    }
}

extension ExportedProperty {
    /// The value, which has the declared type or is an error.
    func checkedValue() throws(MethodError) -> BusValue {
        let value = try get()
        guard value.signature == signature else {
            throw MethodError(
                .failed,
                "the property \(name) is declared as \"\(signature)\" and holds \"\(value.signature)\""
            )
        }
        return value
    }

    /// The value that a call of `Set` carries.
    fileprivate func checkedArgument(_ call: borrowing IncomingMessage) throws(MethodError) -> BusValue {
        var arguments = call.arguments
        arguments.skip()
        arguments.skip()
        do throws(BusError) {
            return try arguments.readVariant { (value) throws(BusError) in
                guard value.signature == signature.text else {
                    throw .signatureMismatch(expected: signature.text, found: value.signature)
                }
                return try value.readValue()
            }
        } catch {
            throw MethodError(.invalidArguments, "the property \(name): \(error)")
        }
    }
}

extension MessageWriter {
    /// Appends an `a{sv}` of the properties that can be read now.
    mutating func appendAll(_ properties: [ExportedProperty]) {
        appendProperties { entries in
            for property in properties {
                guard let value = try? property.checkedValue() else { continue }
                entries.appendProperty(property.name.text, property.signature) { $0.append(value) }
            }
        }
    }
}
