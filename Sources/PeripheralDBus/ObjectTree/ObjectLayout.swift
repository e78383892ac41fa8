/// The names of the interfaces and methods of an object, prepared for comparison with the texts in calls.
///
/// All objects with the same interfaces share one layout.
final class ObjectLayout {
    final class Method {
        let name: OwnedText
        let input: OwnedText
        let declaration: (name: MemberName, input: Signature)
        /// The owner of the bus name that alone may call the method, or `nil` for no restriction.
        let callers: NameOwner?

        init(_ method: ExportedMethod, callers: NameOwner?) {
            name = OwnedText(method.name.text)
            input = OwnedText(method.input.text)
            declaration = (method.name, method.input)
            self.callers = callers
        }

        func describes(_ method: ExportedMethod) -> Bool {
            declaration == (method.name, method.input)
        }
    }

    struct Interface {
        let name: OwnedText
        let declaration: (name: InterfaceName, callers: BusName?)
        let methods: [Method]

        init(_ interface: ExportedInterface, callers: NameOwner?) {
            name = OwnedText(interface.name.text)
            declaration = (interface.name, interface.callers)
            methods = interface.methods.map { Method($0, callers: callers) }
        }

        func describes(_ interface: ExportedInterface) -> Bool {
            declaration == (interface.name, interface.callers)
                && methods.elementsEqual(interface.methods) { $0.describes($1) }
        }
    }

    let interfaces: [Interface]

    init(_ interfaces: [ExportedInterface], owner: (BusName) -> NameOwner) {
        self.interfaces = interfaces.map { Interface($0, callers: $0.callers.map(owner)) }
    }

    /// Returns whether an object with these interfaces has this layout.
    func describes(_ interfaces: [ExportedInterface]) -> Bool {
        self.interfaces.elementsEqual(interfaces) { $0.describes($1) }
    }
}
