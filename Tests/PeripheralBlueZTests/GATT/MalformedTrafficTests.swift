import BusTestSupport
import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// Calls at random to a running peripheral, as a bluetoothd sends them that has gone mad; and what strangers
/// send.
@Suite(.timeLimit(.minutes(1)))
struct MalformedTrafficTests {
    private static let value = Characteristic<[UInt8]>(0x2A19, [.read, .write, .notify]) {
        Read { Array(repeating: 7, count: 40) }
        Write { _ in }
        UserDescription("Fuzzed")
    }
    private static let fixed = Characteristic<UInt8>(0x2A38, value: 1)
    private static let peripheral = Peripheral("Fuzz") {
        GATTService(.battery) {
            value; fixed
        }
    }

    private static let service = "/peripheral/service0000"
    private static let device: ObjectPath = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01"
    private static let readable: [ObjectPath] = [
        "/peripheral/service0000/char0000", "/peripheral/service0000/char0001",
        "/peripheral/service0000/char0000/desc0000",
    ]

    struct Call: CustomStringConvertible {
        var path: ObjectPath
        var interface: InterfaceName
        var member: MemberName
        var body: [BusValue]
        var description: String { "\(member) of \(interface) at \(path) with \(body)" }

        static func random(using generator: inout SeededGenerator) -> Call {
            let paths =
                readable + [
                    "/", "/peripheral", "/peripheral/service0000", "/advertisement0", "/agent", "/unknown",
                    "/peripheral/service0000/char0009",
                ]
            let interfaces: [InterfaceName] = [
                "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1", "org.bluez.GattService1",
                "org.bluez.LEAdvertisement1", "org.bluez.Agent1", "org.freedesktop.DBus.Properties",
                "org.freedesktop.DBus.ObjectManager", "test.Unknown",
            ]
            let members: [MemberName] = [
                "ReadValue", "WriteValue", "StartNotify", "StopNotify", "Confirm", "RequestAuthorization",
                "RequestPasskey", "DisplayPasskey", "Cancel", "Get", "Set", "GetAll",
                "GetManagedObjects", "Introspect", "Unknown",
            ]
            var call = Call(
                path: paths.randomElement(using: &generator) ?? "/",
                interface: interfaces.randomElement(using: &generator) ?? "test.Unknown",
                member: members.randomElement(using: &generator) ?? "Unknown",
                body: (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    BusValue.random(using: &generator)
                }
            )
            // Most calls come close: the right method with options that are wrong in one way or another.
            if Int.random(in: 0..<4, using: &generator) > 0 {
                call.path = readable.randomElement(using: &generator) ?? "/"
                call.interface =
                    call.path.text.hasSuffix("desc0000")
                    ? "org.bluez.GattDescriptor1" : "org.bluez.GattCharacteristic1"
                let options = randomOptions(using: &generator)
                if Bool.random(using: &generator) {
                    (call.member, call.body) = ("ReadValue", [options])
                } else {
                    let count = [0, 1, 40, 512, 513, 60_000].randomElement(using: &generator) ?? 0
                    (call.member, call.body) = (
                        "WriteValue", [.bytes([UInt8](repeating: 1, count: count)), options]
                    )
                }
            }
            return call
        }

        private static func randomOptions(using generator: inout SeededGenerator) -> BusValue {
            var options: [(String, BusValue)] = [
                ("device", .objectPath(device)), ("mtu", .uint16(.random(in: 0 ... .max, using: &generator))),
                ("offset", .uint16([0, 1, 39, 40, 41, 512, .max].randomElement(using: &generator) ?? 0)),
                ("link", .string("LE")),
            ]
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: options.remove(at: Int.random(in: 0..<options.count, using: &generator))
            case 1:
                let index = Int.random(in: 0..<options.count, using: &generator)
                options[index].1 = .random(using: &generator)
            case 2: options.append(("key", .random(using: &generator)))
            default: break
            }
            return .properties(options)
        }

        /// What is known of the answer without asking: the names of the errors that it may be, nil for none.
        func allows(_ name: String?) -> Bool {
            guard readable.contains(path), interface.text.hasPrefix("org.bluez.Gatt"),
                member == "ReadValue" || member == "WriteValue"
            else { return name == nil || name?.hasPrefix("org.freedesktop.DBus.Error.") == true }
            let isDescriptor = path.text.hasSuffix("desc0000")
            guard (interface == "org.bluez.GattDescriptor1") == isDescriptor,
                interface != "org.bluez.GattService1"
            else { return name == "org.freedesktop.DBus.Error.UnknownInterface" }
            let signature = member == "ReadValue" ? "a{sv}" : "aya{sv}"
            guard body.signature.text == signature, let options = body.last, hasUsableOptions(options) else {
                return name == "org.freedesktop.DBus.Error.InvalidArgs"
            }
            return name == nil || name?.hasPrefix("org.bluez.Error.") == true
        }

        private func hasUsableOptions(_ options: BusValue) -> Bool {
            guard let entries = options.dictionary?.entries else { return false }
            let types = Dictionary(
                entries.compactMap { entry in
                    entry.key.string.flatMap { key in
                        if case .variant(let value) = entry.value { (key, value.signature.text) } else { nil }
                    }
                }
            ) { $1 }
            guard types["device"] == "o", case .objectPath(let path)? = options["device"] else {
                return false
            }
            return path.text.hasSuffix("dev_C0_FF_EE_00_00_01") && types["mtu"] ?? "q" == "q"
                && types["offset"] ?? "q" == "q" && types["prepare-authorize"] ?? "b" == "b"
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func everyCallGetsTheRightAnswer(seed: UInt64) async throws {
        try await ScriptedDaemon.run { daemon in
            let run = daemon.start(Self.peripheral)
            let registration = try await daemon.next("RegisterApplication")
            registration.reply.send()
            try await daemon.accept("RegisterAdvertisement")
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<1000 {
                let call = Call.random(using: &generator)
                let name = try await daemon.connection.error(of: call, to: registration.program)
                #expect(call.allows(name), "seed \(seed): \(call): \(name ?? "no error")")
            }
            // Nothing of that has harmed the peripheral.
            for (path, count) in [(Self.readable[0], 40), (Self.readable[1], 1)] {
                let answer = try await daemon.connection.call(
                    registration.program,
                    path,
                    "org.bluez.GattCharacteristic1",
                    "ReadValue",
                    [.properties(["device": .objectPath(Self.device)])]
                )
                #expect(answer.first?.bytes?.count == count)
            }
            try await daemon.stop(run)
        }
    }

    /// Only bluetoothd speaks for centrals.
    @Test func callsOfStrangersAreDenied() async throws {
        let calls = Log()
        let value = Characteristic<[UInt8]>(0x2A19, [.read, .write, .notify]) {
            Read {
                calls.add("read")
                return [1]
            }
            Write { _ in calls.add("write") }
        }
        let peripheral = Peripheral("Guarded") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ { bluez in
            try await Stranger.run(on: bluez) { stranger in
                try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    let owner = try await stranger.newcomer()
                    let options = BusValue.properties(["device": .objectPath(Self.device)])
                    let path = Self.readable[0]
                    let interface: InterfaceName = "org.bluez.GattCharacteristic1"
                    let methods: [(MemberName, [BusValue])] = [
                        ("ReadValue", [options]), ("WriteValue", [.bytes([1]), options]), ("StartNotify", []),
                        ("StopNotify", []), ("Confirm", []), ("ReadValue", []),
                    ]
                    for (method, body) in methods {
                        let call = Call(path: path, interface: interface, member: method, body: body)
                        let name = try await stranger.connection.error(of: call, to: owner)
                        #expect(name == "org.freedesktop.DBus.Error.AccessDenied", "\(method)")
                        try await stranger.connection.callWithoutReply(owner, path, interface, method, body)
                    }
                    let release = Call(
                        path: "/advertisement0",
                        interface: "org.bluez.LEAdvertisement1",
                        member: "Release",
                        body: []
                    )
                    #expect(
                        try await stranger.connection.error(of: release, to: owner)
                            == "org.freedesktop.DBus.Error.AccessDenied"
                    )
                    #expect(calls.entries.isEmpty)
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    #expect(try await central.read(value) == [1])
                    #expect(calls.entries == ["read"])
                }
            }
        }
    }

    /// What is there is no secret.
    @Test func strangersMayLook() async throws {
        try await withEmulatedBlueZ { bluez in
            try await Stranger.run(on: bluez) { stranger in
                try await Self.peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    let owner = try await stranger.newcomer()
                    for (path, interface, member, body) in [
                        ("/peripheral", .objectManager, "GetManagedObjects", []),
                        (Self.readable[0], .introspectable, "Introspect", []),
                        (Self.readable[0], .properties, "GetAll", [.string("org.bluez.GattCharacteristic1")]),
                    ] as [(ObjectPath, InterfaceName, MemberName, [BusValue])] {
                        let call = Call(path: path, interface: interface, member: member, body: body)
                        #expect(try await stranger.connection.error(of: call, to: owner) == nil, "\(call)")
                    }
                }
            }
        }
    }

    @Test func signalsOfStrangersChangeNothing() async throws {
        try await withEmulatedBlueZ { bluez in
            try await Stranger.run(on: bluez) { stranger in
                try await Self.peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    // What bluetoothd would say when it loses the adapter.
                    try await stranger.connection.emit("/", .objectManager, "InterfacesRemoved") { writer in
                        writer.append("/org/bluez/hci0" as ObjectPath)
                        writer.append(.strings(["org.bluez.Adapter1"]))
                    }
                    var generator = SeededGenerator(seed: 9)
                    for _ in 0..<200 {
                        let values = [BusValue.random(using: &generator), .random(using: &generator)]
                        try await stranger.connection.emit(
                            "/org/bluez/hci0",
                            .properties,
                            "PropertiesChanged"
                        ) { $0.append(values) }
                    }
                    let central = bluez.central(for: Self.peripheral)
                    try await central.connect()
                    #expect(try await central.read(Self.fixed) == 1)
                }
            }
        }
    }
}

/// What a handler was asked for.
private final class Log: Sendable {
    private let state = Mutex<[String]>([])

    var entries: [String] { state.withLock(\.self) }

    func add(_ entry: String) {
        state.withLock { $0.append(entry) }
    }
}
