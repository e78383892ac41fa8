import BusTestSupport
import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Calls at random to a running peripheral, as nobody sends them who means well: anybody on the bus can.
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
    private static let readable: Set<ObjectPath> = [
        "/peripheral/service0000/characteristic0000", "/peripheral/service0000/characteristic0001",
        "/peripheral/service0000/characteristic0000/descriptor0000",
    ]

    struct Call: CustomStringConvertible {
        var path: ObjectPath
        var interface: InterfaceName
        var member: MemberName
        var body: [BusValue]
        var description: String { "\(member) of \(interface) at \(path) with \(body)" }

        static func random(using generator: inout SeededGenerator) -> Call {
            let paths =
                Array(readable).sorted { $0.text < $1.text } + [
                    "/", "/peripheral", "/peripheral/service0000", "/advertisement", "/unknown",
                    "/peripheral/service0000/characteristic0009",
                ]
            let interfaces: [InterfaceName] = [
                "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1", "org.bluez.GattService1",
                "org.bluez.LEAdvertisement1", "org.freedesktop.DBus.Properties",
                "org.freedesktop.DBus.ObjectManager", "test.Unknown",
            ]
            let members: [MemberName] = [
                "ReadValue", "WriteValue", "StartNotify", "StopNotify", "Confirm", "Get", "Set", "GetAll",
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
                call.path = readable.sorted { $0.text < $1.text }.randomElement(using: &generator) ?? "/"
                call.interface =
                    call.path.text.hasSuffix("descriptor0000")
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
            let device: ObjectPath = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01"
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
            let isDescriptor = path.text.hasSuffix("descriptor0000")
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
        try await withEmulatedBlueZ { bluez in
            try await Stranger.run(on: bluez) { stranger in
                try await Self.peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    let owner = try await stranger.newcomer()
                    var generator = SeededGenerator(seed: seed)
                    for _ in 0..<1000 {
                        let call = Call.random(using: &generator)
                        let name = try await stranger.error(of: call, to: owner)
                        #expect(call.allows(name), "seed \(seed): \(call): \(name ?? "no error")")
                    }
                    // Nothing of that has harmed the peripheral.
                    let central = bluez.central(for: Self.peripheral)
                    try await central.connect()
                    #expect(try await central.read(Self.value).count == 40)
                    #expect(try await central.read(Self.fixed) == 1)
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

/// Another program on the bus.
private struct Stranger {
    let connection: BusConnection
    let names: Set<String>

    static func run(on bluez: EmulatedBlueZ, _ body: (Stranger) async throws -> Void) async throws {
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
        let result: Result<Void, any Error>
        do {
            let stranger = Stranger(connection: connection, names: try await Self.names(on: connection))
            result = .success(try await body(stranger))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        await loop.stop()
        try result.get()
    }

    private static func names(on connection: BusConnection) async throws -> Set<String> {
        let bus: InterfaceName = "org.freedesktop.DBus"
        let answer = try await connection.call(.bus, "/org/freedesktop/DBus", bus, "ListNames")
        return Set(answer.first?.elements?.compactMap(\.string) ?? [])
    }

    /// The one program that has come since.
    func newcomer() async throws -> BusName {
        let newcomers = try await Self.names(on: connection).subtracting(names)
        return try BusName(try #require(newcomers.count == 1 ? newcomers.first : nil))
    }

    /// The name of the error that a call is answered with, nil when it succeeds.
    func error(of call: MalformedTrafficTests.Call, to owner: BusName) async throws -> String? {
        do throws(BusError) {
            _ = try await connection.call(owner, call.path, call.interface, call.member, call.body)
            return nil
        } catch {
            guard case .remote(let name, _) = error else { throw error }
            return name
        }
    }
}
