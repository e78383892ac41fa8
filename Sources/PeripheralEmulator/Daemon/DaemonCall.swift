internal import PeripheralDBus

/// A method call to the daemon, with its caller, its arguments and its return.
struct DaemonCall: Sendable {
    let sender: BusName
    let arguments: [BusValue]
    let reply: DeferredReply

    init?(_ message: borrowing IncomingMessage, _ reply: DeferredReply) {
        var arguments = message.arguments
        guard let sender = try? BusName(message.sender.string), let values = try? arguments.readValues()
        else { return nil }
        self.sender = sender
        self.arguments = values
        self.reply = reply
    }

    /// The caller's object that the first argument names.
    var client: Client? {
        arguments.first?.objectPath.map { Client(owner: sender, path: $0) }
    }
}

/// An object of another program on the bus, which identifies a registration.
struct Client: Hashable, Sendable {
    let owner: BusName
    let path: ObjectPath
}

/// A `PropertiesChanged` signal of another program.
struct PropertyChanges: Sendable {
    let client: Client
    let interface: String
    let changed: [(name: String, value: BusValue)]
    let invalidated: [String]

    init?(_ signal: borrowing IncomingMessage) {
        var reader = signal.arguments
        guard let owner = try? BusName(signal.sender.string), let path = try? ObjectPath(signal.path.string),
            let arguments = try? reader.readValues(), arguments.signature == "sa{sv}as",
            let interface = arguments[0].string, let changed = arguments[1].dictionary
        else { return nil }
        client = Client(owner: owner, path: path)
        self.interface = interface
        self.changed = changed.entries.compactMap { entry in
            entry.key.string.map { ($0, entry.value.unwrapped) }
        }
        invalidated = arguments[2].elements?.compactMap(\.string) ?? []
    }
}

/// An object of another program that an `InterfacesRemoved` signal names.
struct RemovedObject: Sendable {
    /// The object manager, at the root of an application.
    let client: Client
    let path: ObjectPath

    init?(_ signal: borrowing IncomingMessage) {
        var reader = signal.arguments
        guard let owner = try? BusName(signal.sender.string), let root = try? ObjectPath(signal.path.string),
            let arguments = try? reader.readValues(), arguments.signature == "oas",
            let path = arguments[0].objectPath
        else { return nil }
        client = Client(owner: owner, path: root)
        self.path = path
    }
}

extension MethodError {
    static let alreadyExists = MethodError("org.bluez.Error.AlreadyExists", "Already Exists")
    static let doesNotExist = MethodError("org.bluez.Error.DoesNotExist", "Does Not Exist")

    static let invalidArguments = MethodError(
        "org.bluez.Error.InvalidArguments",
        "Invalid arguments in method call"
    )
    static let notReady = MethodError("org.bluez.Error.NotReady", "Resource Not Ready")
    static let blocked = MethodError("org.bluez.Error.Blocked", "Blocked through rfkill")
    static let notConnected = MethodError("org.bluez.Error.NotConnected", "Not Connected")

    static func bluez(failed message: String) -> MethodError {
        MethodError("org.bluez.Error.Failed", message)
    }
}
