import PeripheralDBus
import PeripheralEmulator
import PeripheralTesting
import Synchronization
import Testing

/// A program on the bus that registers whatever a test wants, right or wrong, and keeps every call that it
/// gets.
final class RawApplication: Sendable {
    enum BackendAnswer: Sendable {
        case values([BusValue])
        case made(@Sendable () -> [BusValue])
        case error(ErrorName, String)
        case never
    }

    static let root: ObjectPath = "/app"
    static let adapter: ObjectPath = "/org/bluez/hci0"

    let connection: BusConnection
    let name: BusName
    /// The calls that it got.
    let calls = CallLog()
    /// The signals of bluetoothd.
    let signals = CallLog()
    private let loop: EventLoop
    /// The application's ends of the sockets that it has handed over.
    let sockets = Mutex<[OwnedFileDescriptor]>([])
    private let answers = Mutex<[String: BackendAnswer]>([:])
    private let unanswered = Mutex<[DeferredReply]>([])

    private init(_ connection: BusConnection, _ name: BusName, _ loop: EventLoop) {
        self.connection = connection
        self.name = name
        self.loop = loop
    }

    /// Connects to the bus, and leaves it when the body ends.
    static func run(
        on bluez: EmulatedBlueZ,
        _ body: (RawApplication) async throws -> Void
    ) async throws {
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
        let application = RawApplication(connection, await connection.uniqueName, loop)
        let result: Result<Void, any Error>
        do {
            try await application.listen()
            result = .success(try await body(application))
        } catch {
            result = .failure(error)
        }
        await application.leave()
        await loop.stop()
        try result.get()
    }

    /// Leaves the bus.
    func leave() async {
        await connection.close()
    }

    private func listen() async throws {
        for member in ["PropertiesChanged", "InterfacesAdded", "InterfacesRemoved"] as [MemberName] {
            let rule = MatchRule(pathNamespace: "/", member: member)
            _ = try await connection.subscribe(to: rule) { [signals, name] signal in
                guard !signal.sender.equals(name.text) else { return }
                signals.add(RecordedCall(signal, isReplyExpected: true).text)
            }
        }
    }

    // MARK: Objects

    /// Says how calls of a method are answered: by the path and the method, or by the method alone.
    func answer(_ call: String, _ answer: BackendAnswer?) {
        answers.withLock { $0[call] = answer }
    }

    /// Exports objects below the root; its object manager lists exactly these objects.
    func export(_ objects: [RawObject], at root: ObjectPath = root) async throws {
        let tree = BusValue.managedObjects(objects)
        answer("GetManagedObjects \(root)", .values([tree]))
        try await connection.export(
            ExportedObject(
                root,
                [
                    ExportedInterface(
                        .objectManager,
                        methods: [method("GetManagedObjects", "", "a{oa{sa{sv}}}")]
                    )
                ]
            )
        )
        for object in objects {
            try await connection.export(
                ExportedObject(
                    object.path,
                    [
                        ExportedInterface(
                            object.interface,
                            methods: [
                                method("ReadValue", "a{sv}", "ay"), method("WriteValue", "aya{sv}", ""),
                                method("StartNotify", "", ""), method("StopNotify", "", ""),
                                method("Confirm", "", ""), method("AcquireNotify", "a{sv}", "hq"),
                                method("AcquireWrite", "a{sv}", "hq"),
                            ]
                        ),
                        ExportedInterface(.properties, methods: [method("Set", "ssv", "")]),
                    ]
                )
            )
        }
    }

    /// Exports an advertisement with these properties.
    func exportAdvertisement(
        _ properties: [(String, BusValue)],
        at path: ObjectPath = "/app/adv"
    ) async throws {
        answer("GetAll \(path)", .values([.properties(properties)]))
        answer(
            "GetManagedObjects \(path)",
            .error("org.freedesktop.DBus.Error.UnknownObject", "no object manager")
        )
        try await connection.export(
            ExportedObject(
                path,
                [
                    ExportedInterface(
                        .objectManager,
                        methods: [method("GetManagedObjects", "", "a{oa{sa{sv}}}")]
                    ),
                    ExportedInterface(
                        .properties,
                        methods: [method("GetAll", "s", "a{sv}"), method("Set", "ssv", "")]
                    ),
                    ExportedInterface("org.bluez.LEAdvertisement1", methods: [method("Release", "", "")]),
                ]
            )
        )
    }

    func method(_ name: MemberName, _ input: Signature, _ output: Signature) -> ExportedMethod {
        ExportedMethod(name, input, output) { [self] message, reply in
            let call = RecordedCall(message, isReplyExpected: reply.isExpected)
            calls.add(call.text)
            let answer = answers.withLock { $0["\(call.member) \(call.path)"] ?? $0[call.member] }
            switch answer {
            case .values(let values): reply.send { $0.append(values) }
            case .made(let make): reply.send { $0.append(make()) }
            case .error(let name, let message): reply.fail(MethodError(name, message))
            case .never:
                let reply = reply.deferred()
                unanswered.withLock { $0.append(reply) }
            case nil: reply.send { if name == "ReadValue" { $0.append(bytes: [1]) } }
            }
        }
    }

    /// Answers what was left unanswered.
    func answerLate(_ values: [BusValue]) {
        for reply in unanswered.withLock({ $0 }) { reply.send(values) }
    }

    // MARK: Calls

    /// Calls bluetoothd.
    ///
    /// - Returns: `ok`, or the error's name and text.
    func call(
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: [BusValue],
        at path: ObjectPath = adapter
    ) async -> String {
        do throws(BusError) {
            let answer = try await connection.call("org.bluez", path, interface, member, arguments)
            return answer.isEmpty ? "ok" : answer.map(\.text).joined(separator: ", ")
        } catch {
            return error.description
        }
    }

    func register(_ path: ObjectPath = root, at adapter: ObjectPath = adapter) async -> String {
        await call(
            "org.bluez.GattManager1",
            "RegisterApplication",
            [.objectPath(path), .properties([])],
            at: adapter
        )
    }

    func unregister(_ path: ObjectPath = root) async -> String {
        await call("org.bluez.GattManager1", "UnregisterApplication", [.objectPath(path)])
    }

    func advertise(_ path: ObjectPath = "/app/adv") async -> String {
        let arguments: [BusValue] = [.objectPath(path), .properties([])]
        return await call("org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", arguments)
    }

    func unadvertise(_ path: ObjectPath = "/app/adv") async -> String {
        await call("org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement", [.objectPath(path)])
    }

    /// A round trip: what bluetoothd has sent before it has arrived afterwards.
    func settle() async throws {
        _ = try await connection.call("org.bluez", "/", .peer, "Ping")
    }
}

/// An object of a GATT application.
struct RawObject: Sendable {
    var path: ObjectPath
    var interface: InterfaceName
    var properties: [(String, BusValue)]

    static func service(
        _ path: ObjectPath = "/app/s",
        _ properties: [(String, BusValue)] = [("UUID", .string("180d")), ("Primary", .bool(true))]
    ) -> RawObject {
        RawObject(path: path, interface: "org.bluez.GattService1", properties: properties)
    }

    static func characteristic(
        _ path: ObjectPath,
        uuid: String = "2a37",
        _ flags: [String],
        of service: ObjectPath = "/app/s",
        more: [(String, BusValue)] = []
    ) -> RawObject {
        RawObject(
            path: path,
            interface: "org.bluez.GattCharacteristic1",
            properties: [
                ("UUID", .string(uuid)), ("Service", .objectPath(service)), ("Flags", .strings(flags)),
            ] + more
        )
    }

    static func descriptor(
        _ path: ObjectPath,
        uuid: String = "2901",
        _ flags: [String],
        of characteristic: ObjectPath
    ) -> RawObject {
        RawObject(
            path: path,
            interface: "org.bluez.GattDescriptor1",
            properties: [
                ("UUID", .string(uuid)), ("Characteristic", .objectPath(characteristic)),
                ("Flags", .strings(flags)),
            ]
        )
    }
}

extension BusValue {
    static func managedObjects(_ objects: [RawObject]) -> BusValue {
        .dictionary(
            BusDictionary(
                key: "o",
                value: "a{sa{sv}}",
                objects.map { object in
                    let interfaces = BusDictionary(
                        key: "s",
                        value: "a{sv}",
                        [
                            BusDictionary.Entry(
                                key: .string(object.interface.text),
                                value: .properties(object.properties)
                            )
                        ]
                    )
                    return BusDictionary.Entry(key: .objectPath(object.path), value: .dictionary(interfaces))
                }
            )
        )
    }
}
