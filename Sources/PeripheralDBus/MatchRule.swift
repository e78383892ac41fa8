/// A rule that selects signals for a subscription.
///
/// A field that is `nil` matches everything.
package struct MatchRule: Sendable, Hashable {
    package var sender: BusName?
    package var path: ObjectPath?
    /// The object at this path and all below it.
    package var pathNamespace: ObjectPath?
    package var interface: InterfaceName?
    package var member: MemberName?
    /// The first argument, if it is a string.
    package var firstArgument: String?

    package init(
        sender: BusName? = nil,
        path: ObjectPath? = nil,
        pathNamespace: ObjectPath? = nil,
        interface: InterfaceName? = nil,
        member: MemberName? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// The rule in the notation of the bus.
    var text: String {
        var parts = ["type='signal'"]
        if let sender { parts.append("sender='\(sender)'") }
        if let path { parts.append("path='\(path)'") }
        if let pathNamespace { parts.append("path_namespace='\(pathNamespace)'") }
        if let interface { parts.append("interface='\(interface)'") }
        if let member { parts.append("member='\(member)'") }
        if let firstArgument { parts.append("arg0='\(Self.quoted(firstArgument))'") }
        return parts.joined(separator: ",")
    }

    /// Quotes a text, with its apostrophes outside of the quotes, because only they are special inside.
    private static func quoted(_ text: String) -> String {
        text.split(separator: "'" as Character, omittingEmptySubsequences: false).joined(separator: "'\\''")
    }
}

extension MatchRule {
    /// Returns whether a signal matches, without checking the sender.
    ///
    /// The caller checks the sender, because it knows the owners of names.
    func matchesExceptSender(_ signal: borrowing IncomingMessage) -> Bool {
        if let member, !signal.member.equals(member.text) { return false }
        if let interface, !signal.interface.equals(interface.text) { return false }
        if let path, !signal.path.equals(path.text) { return false }
        if let pathNamespace, !signal.path.isWithin(pathNamespace) { return false }
        guard let firstArgument else { return true }
        var arguments = signal.arguments
        guard let argument = try? arguments.readBorrowedString() else { return false }
        return argument.equals(firstArgument)
    }
}

extension BorrowedText {
    fileprivate func isWithin(_ root: ObjectPath) -> Bool {
        if equals(root.text) { return true }
        guard let path = try? ObjectPath(string) else { return false }
        return path.isBelow(root)
    }
}
