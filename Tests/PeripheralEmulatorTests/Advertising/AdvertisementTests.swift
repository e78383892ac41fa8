import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// What of an advertisement gets on the air, byte by byte as recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisementTests {
    struct Candidate: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var properties: [(String, BusValue)]
        /// Advertising data and scan response, or the error.
        var extended: String
        /// The same where not said otherwise.
        var legacy: String
        var type = "peripheral"

        init(
            _ what: String,
            _ properties: [(String, BusValue)],
            _ extended: String,
            legacy: String? = nil,
            type: String = "peripheral"
        ) {
            testDescription = what
            self.properties = properties
            self.extended = extended
            self.legacy = legacy ?? extended
            self.type = type
        }
    }

    private static let tooLong = "org.bluez.Error.Failed: Failed to register advertisement"
    private static let notParsed = "org.bluez.Error.Failed: Failed to parse advertisement."
    private static let custom = "52490000-7269-6700-0000-000000000001"

    private static let name = ("LocalName", BusValue.string("Pulse"))
    private static let discoverable = ("Discoverable", BusValue.bool(true))

    private static func name(of count: Int) -> (String, BusValue) {
        ("LocalName", .string(String(repeating: "n", count: count)))
    }

    private static func services(_ uuids: String...) -> (String, BusValue) {
        ("ServiceUUIDs", .strings(uuids))
    }

    private static func services(count: Int) -> (String, BusValue) {
        ("ServiceUUIDs", .strings((0..<count).map { "18" + UInt8($0).hexadecimal }))
    }

    private static func manufacturer(_ company: UInt16, _ data: [UInt8]) -> (String, BusValue) {
        let entry = BusDictionary.Entry(key: .uint16(company), value: .variant(.bytes(data)))
        return ("ManufacturerData", .dictionary(BusDictionary(key: "q", value: "v", [entry])))
    }

    private static func data(_ type: UInt8, _ data: [UInt8]) -> (String, BusValue) {
        let entry = BusDictionary.Entry(key: .byte(type), value: .variant(.bytes(data)))
        return ("Data", .dictionary(BusDictionary(key: "y", value: "v", [entry])))
    }

    static let candidates: [Candidate] = [
        Candidate("Type only", [], " ", legacy: "020104 "),
        Candidate("LocalName", [name], " 060950756c7365", legacy: "020104 060950756c7365"),
        Candidate("LocalName, Discoverable", [name, discoverable], "020106 060950756c7365"),
        Candidate(
            "LocalName, Discoverable false",
            [name, ("Discoverable", .bool(false))],
            " 060950756c7365",
            legacy: "020104 060950756c7365"
        ),
        Candidate(
            "LocalName, 180d 180f, Discoverable",
            [name, services("180d", "180f"), discoverable],
            "05030d180f18020106 060950756c7365"
        ),
        Candidate(
            "the same as 128-bit text",
            [name, services("0000180d-0000-1000-8000-00805f9b34fb"), discoverable],
            "03030d18020106 060950756c7365"
        ),
        Candidate("180D in capitals", [name, services("180D")], "02010403030d18 060950756c7365"),
        Candidate(
            "128 bit",
            [name, services(custom), discoverable],
            "110701000000000000000067697200004952020106 060950756c7365"
        ),
        Candidate(
            "16 and 128 bit",
            [name, services("180d", custom), discoverable],
            "03030d18110701000000000000000067697200004952020106 060950756c7365"
        ),
        Candidate(
            "manufacturer data",
            [name, manufacturer(0x0059, [1, 2]), discoverable],
            "05ff59000102020106 060950756c7365"
        ),
        Candidate(
            "all small",
            [
                name, services("180d", "180f"), manufacturer(0x0059, [1, 2]),
                ("ServiceData", .properties([("180f", .bytes([0x64]))])), ("Appearance", .uint16(832)),
                ("Includes", .strings(["tx-power"])), discoverable,
            ],
            "05030d180f1805ff5900010204160f186403194003020106020a00 060950756c7365"
        ),
        Candidate("SolicitUUIDs", [("SolicitUUIDs", .strings(["180d"]))], "02010403140d18 "),
        Candidate("Data", [data(0x26, [1, 1])], "02010403260101 "),
        Candidate(
            "Includes local-name appearance tx-power",
            [("Includes", .strings(["local-name", "appearance", "tx-power"]))],
            tooLong
        ),
        Candidate(
            "name of 29",
            [name(of: 29)],
            " 1e09" + String(repeating: "6e", count: 29),
            legacy: "020104 1e09" + String(repeating: "6e", count: 29)
        ),
        Candidate(
            "name of 30",
            [name(of: 30)],
            " 1e08" + String(repeating: "6e", count: 29),
            legacy: "020104 1e08" + String(repeating: "6e", count: 29)
        ),
        Candidate(
            "name of 300",
            [name(of: 300)],
            " 1e08" + String(repeating: "6e", count: 29),
            legacy: "020104 1e08" + String(repeating: "6e", count: 29)
        ),
        Candidate(
            "28 bytes and a name",
            [name, services(count: 13)],
            "0201041b0300180118021803180418051806180718081809180a180b180c18 060950756c7365"
        ),
        Candidate(
            "exactly 31",
            [name, services(count: 9), manufacturer(1, [UInt8](repeating: 0, count: 7))],
            tooLong,
            legacy: "13030018011802180318041805180618071808180aff010000000000000000 060950756c7365"
        ),
        Candidate(
            "exactly 31 and Discoverable",
            [discoverable, services(count: 9), manufacturer(1, [UInt8](repeating: 0, count: 7))],
            tooLong
        ),
        Candidate(
            "one more than 31",
            [services(count: 9), manufacturer(1, [UInt8](repeating: 0, count: 8))],
            tooLong
        ),
        Candidate("broadcast", [name, services("180d")], "02010403030d18 060950756c7365", type: "broadcast"),
        Candidate("Type unknown", [], notParsed, type: "x"),
        Candidate("bad UUID", [services("xyz")], notParsed),
        Candidate("ServiceUUIDs is a string", [("ServiceUUIDs", .string("180d"))], notParsed),
        Candidate("local-name twice", [name, ("Includes", .strings(["local-name"]))], notParsed),
        Candidate("unknown include", [("Includes", .strings(["x"]))], " ", legacy: "020104 "),
        Candidate("an interval", [("MinInterval", .uint32(100))], " ", legacy: "020104 "),
        Candidate("unknown property", [("Wings", .byte(2))], " ", legacy: "020104 "),
        Candidate("Discoverable broadcast", [discoverable], notParsed, type: "broadcast"),
    ]

    private static func configuration(_ kind: EmulatedAdapter.Kind) -> EmulatedBlueZ.Configuration {
        EmulatedBlueZ.Configuration(adapters: [EmulatedAdapter("hci0", kind: kind)])
    }

    private static func onAir(_ central: VirtualCentral) -> String {
        central.scan().map { "\($0.advertisingData.hexadecimal) \($0.scanResponse.hexadecimal)" }
            .joined(separator: "; ")
    }

    @Test(arguments: candidates) func getsOnTheAirOrIsRefused(candidate: Candidate) async throws {
        for kind in [EmulatedAdapter.Kind.extended, .legacy] {
            try await withEmulatedBlueZ(Self.configuration(kind)) { bluez in
                let central = bluez.central(for: Peripheral("Air") {})
                try await RawApplication.run(on: bluez) { application in
                    let properties = candidate.properties + [("Type", .string(candidate.type))]
                    try await application.exportAdvertisement(properties)
                    let outcome = await application.advertise()
                    let found = outcome == "ok" ? Self.onAir(central) : outcome
                    #expect(found == (kind == .legacy ? candidate.legacy : candidate.extended), "\(kind)")
                    let isConnectable = outcome == "ok" ? candidate.type == "peripheral" : nil
                    #expect(central.scan().first?.isConnectable == isConnectable)
                }
            }
        }
    }

    private static let hidden = ("Discoverable", BusValue.bool(false))
    private static let power = ("Includes", BusValue.strings(["tx-power"]))

    private static func channel(_ name: String) -> (String, BusValue) {
        ("SecondaryChannel", .string(name))
    }

    private static func zeros(_ count: Int) -> (String, BusValue) {
        manufacturer(1, [UInt8](repeating: 0, count: count))
    }

    private static func n(_ count: Int) -> String { String(repeating: "6e", count: count) }
    private static func o(_ count: Int) -> String { String(repeating: "00", count: count) }

    /// Where 5.82 and 5.87 differ from 5.66; on both kinds of adapter, unless said otherwise.
    private static let newerCandidates: [Candidate] = [
        Candidate("nothing", [], " ", legacy: "020104 "),
        Candidate("not discoverable", [hidden], "020104 "),
        Candidate("flags behind", [hidden, services("1800")], "03030018020104 "),
        Candidate("only the least interval", [("MinInterval", .uint32(100))], notParsed),
        Candidate(
            "both intervals",
            [discoverable, ("MinInterval", .uint32(100)), ("MaxInterval", .uint32(200))],
            "020106 "
        ),
        Candidate(
            "an interval of 19 ms",
            [("MinInterval", .uint32(19)), ("MaxInterval", .uint32(200))],
            notParsed
        ),
        Candidate(
            "an interval of too many ms",
            [("MinInterval", .uint32(100)), ("MaxInterval", .uint32(10_485_760))],
            notParsed
        ),
        Candidate("a power of 21 dBm", [("TxPower", .int16(21))], notParsed),
        Candidate("a power of 20 dBm", [discoverable, ("TxPower", .int16(20))], "020106 "),
        Candidate(
            "a name of 30",
            [discoverable, name(of: 30)],
            tooLong,
            legacy: "020106 1e08" + n(29)
        ),
        Candidate(
            "one more than 31",
            [name, zeros(28)],
            "0201041fff0100" + o(28) + "060950756c7365 ",
            legacy: notParsed
        ),
        Candidate(
            "one more than 31, discoverable",
            [name, discoverable, zeros(25)],
            "1cff0100" + o(25) + "060950756c7365020106 ",
            legacy: tooLong
        ),
        Candidate(
            "a long name in the data",
            [discoverable, services("1800", "1801"), name(of: 60), channel("1M")],
            "0503001801183d09" + n(60) + "020106 ",
            legacy: notParsed
        ),
        Candidate(
            "an appearance does not count",
            [discoverable, services(custom), manufacturer(1, [1, 2, 3]), ("Appearance", .uint16(832))],
            tooLong
        ),
        Candidate(
            "power and 26 bytes",
            [hidden, power, zeros(22)],
            tooLong
        ),
        Candidate(
            "power and 32 bytes",
            [hidden, power, zeros(25)],
            "1cff0100" + o(25) + "020104020a00 ",
            legacy: tooLong
        ),
        Candidate(
            "scan response",
            [
                name, discoverable, ("ScanResponseServiceUUIDs", .strings(["180d"])),
                ("ScanResponseSolicitUUIDs", .strings(["1801"])),
                ("ScanResponseServiceData", .properties([("180f", .bytes([1]))])),
            ],
            "020106 03030d180314011804160f1801060950756c7365"
        ),
        Candidate(
            "a name cut beside a service",
            [discoverable, name(of: 29), ("ScanResponseServiceUUIDs", .strings(["180d"]))],
            tooLong,
            legacy: "020106 03030d181a08" + n(25)
        ),
        Candidate(
            "scan response to a broadcast",
            [services("1800"), ("ScanResponseServiceUUIDs", .strings(["180d"]))],
            "02010403030018 03030d18",
            type: "broadcast"
        ),
        Candidate(
            "a broadcast without flags",
            [hidden, services("1800")],
            "02010403030018 ",
            type: "broadcast"
        ),
        Candidate(
            "the most in one message",
            [discoverable, zeros(237)],
            "f0ff0100" + o(237) + "020106 ",
            legacy: notParsed
        ),
    ]

    @Test(arguments: newerCandidates, [BlueZVersion.v5_82, .v5_87])
    func newerVersionsDiffer(candidate: Candidate, version: BlueZVersion) async throws {
        let properties = candidate.properties + [("Type", .string(candidate.type))]
        for kind in [EmulatedAdapter.Kind.extended, .legacy] {
            var configuration = Self.configuration(kind)
            configuration.version = version
            try await run(configuration, properties) { bluez, application in
                let central = bluez.central(for: Peripheral("Air") {})
                let outcome = await application.advertise()
                let found = outcome == "ok" ? Self.onAir(central) : outcome
                #expect(found == (kind == .legacy ? candidate.legacy : candidate.extended), "\(kind)")
            }
        }
    }

    /// On 5.66, on a Bluetooth 5 adapter.
    private static let olderCandidates: [Candidate] = [
        Candidate("flags in front", [hidden, services("1800")], "02010403030018 "),
        Candidate(
            "secondary channel",
            [name, discoverable, services("1800"), channel("2M")],
            "03030018060950756c7365020106 "
        ),
        Candidate("a name cut to what is left", [discoverable, name(of: 60), channel("1M")], tooLong),
        Candidate("power without data", [hidden, power], " "),
        Candidate("power and 26 bytes", [hidden, power, zeros(22)], tooLong),
        Candidate("32 bytes in one structure", [zeros(28)], notParsed),
        Candidate("empty service data", [("ServiceData", .properties([("180f", .bytes([]))]))], notParsed),
        Candidate("data of a reserved kind", [data(0x27, [1])], notParsed),
        Candidate("appearance 0xffff", [discoverable, ("Appearance", .uint16(0xFFFF))], "020106 "),
        Candidate(
            "scan response",
            [discoverable, ("ScanResponseServiceUUIDs", .strings(["180d"]))],
            "020106 "
        ),
        Candidate(
            "discoverable for longer than advertised",
            [discoverable, ("DiscoverableTimeout", .uint16(20)), ("Timeout", .uint16(10))],
            notParsed
        ),
    ]

    @Test(arguments: olderCandidates)
    func oldestVersion(candidate: Candidate) async throws {
        let properties = candidate.properties + [("Type", .string(candidate.type))]
        try await run(.init(), properties) { bluez, application in
            let central = bluez.central(for: Peripheral("Air") {})
            let outcome = await application.advertise()
            #expect((outcome == "ok" ? Self.onAir(central) : outcome) == candidate.extended)
        }
    }

    @Test func limitedTimeOfDiscoverabilityEnds() async throws {
        let clock = ManualClock()
        let properties: [(String, BusValue)] = [
            ("Type", .string("peripheral")), Self.services("1800"), Self.discoverable,
            ("DiscoverableTimeout", .uint16(20)),
        ]
        try await run(.init(clock: clock), properties) { bluez, application in
            let central = bluez.central(for: Peripheral("Air") {})
            #expect(await application.advertise() == "ok")
            #expect(Self.onAir(central) == "03030018020105 ")
            _ = application.calls.take()
            await clock.waitForSleeper()
            clock.advance(by: .seconds(20))
            #expect(await application.calls.take(1) == [Self.toldPower])
            try await application.settle()
            #expect(Self.onAir(central) == "02010403030018 ")
        }
    }

    private func run(
        _ configuration: EmulatedBlueZ.Configuration = .init(),
        _ properties: [(String, BusValue)] = [("Type", .string("peripheral"))],
        _ body: (EmulatedBlueZ, RawApplication) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(configuration) { bluez in
            try await RawApplication.run(on: bluez) { application in
                try await application.exportAdvertisement(properties)
                try await body(bluez, application)
            }
        }
    }

    private static let questions = [
        "GetManagedObjects /app/adv()", "GetAll /app/adv(s 'org.bluez.LEAdvertisement1')",
    ]
    private static let toldPower = "Set /app/adv(s 'org.bluez.LEAdvertisement1', s 'TxPower', n 0)"

    @Test func extendedAdvertisingTellsThePower() async throws {
        try await run { _, application in
            #expect(await application.advertise() == "ok")
            #expect(application.calls.take() == Self.questions + [Self.toldPower])
            try await application.settle()
            #expect(
                application.signals.take() == [
                    "PropertiesChanged /org/bluez/hci0(s 'org.bluez.LEAdvertisingManager1', "
                        + "{'SupportedInstances': y 4, 'ActiveInstances': y 1}, [])"
                ]
            )
            #expect(await application.advertise() == "org.bluez.Error.AlreadyExists: Already Exists")
            #expect(application.calls.take() == [])
            #expect(await application.unadvertise() == "ok")
            #expect(await application.unadvertise() == "org.bluez.Error.DoesNotExist: Does Not Exist")
            #expect(application.calls.take() == [])
        }
    }

    @Test func legacyAdvertisingDoesNot() async throws {
        try await run(Self.configuration(.legacy)) { _, application in
            #expect(await application.advertise() == "ok")
            #expect(application.calls.take() == Self.questions)
        }
    }

    @Test func sixthIsTooMany() async throws {
        try await run { _, application in
            for number in 1...6 {
                let path = try ObjectPath("/app/adv\(number)")
                try await application.exportAdvertisement([("Type", .string("peripheral"))], at: path)
                let refusal = "org.bluez.Error.NotPermitted: Maximum advertisements reached"
                #expect(await application.advertise(path) == (number < 6 ? "ok" : refusal))
            }
        }
    }

    @Test(arguments: [
        RawApplication.BackendAnswer.error("test.Error.No", "no"), .values([.properties([])]),
    ])
    func withoutPropertiesThereIsSomethingNevertheless(answer: RawApplication.BackendAnswer) async throws {
        try await run { _, application in
            application.answer("GetAll /app/adv", answer)
            #expect(await application.advertise() == "ok")
        }
    }

    @Test func changesAreOnTheAirInPlace() async throws {
        try await run { bluez, application in
            let central = bluez.central(for: Peripheral("Live") {})
            #expect(await application.advertise() == "ok")
            _ = application.calls.take()
            try await application.connection.emitPropertiesChanged(
                "/app/adv",
                "org.bluez.LEAdvertisement1",
                [("LocalName", .string("Other")), ("ServiceUUIDs", .strings(["180f"]))]
            )
            try await application.settle()
            #expect(Self.onAir(central) == "02010403030f18 06094f74686572")
            #expect(application.calls.take() == [Self.toldPower])
        }
    }

    @Test func timeoutReleases() async throws {
        let clock = ManualClock()
        let properties: [(String, BusValue)] = [("Type", .string("peripheral")), ("Timeout", .uint16(1))]
        try await run(.init(clock: clock), properties) { bluez, application in
            #expect(await application.advertise() == "ok")
            _ = application.calls.take()
            await clock.waitForSleeper()
            clock.advance(by: .seconds(1))
            #expect(await application.calls.take(1) == ["Release /app/adv() NO_REPLY_EXPECTED"])
            #expect(await application.unadvertise() == "org.bluez.Error.DoesNotExist: Does Not Exist")
            #expect(bluez.central(for: Peripheral("Gone") {}).scan().isEmpty)
        }
    }

    @Test(arguments: [EmulatedAdapter.Kind.extended, .legacy])
    func connectionInterruptsExtendedAdvertising(kind: EmulatedAdapter.Kind) async throws {
        try await run(Self.configuration(kind)) { bluez, application in
            #expect(await application.advertise() == "ok")
            let central = bluez.central(for: Peripheral("First") {})
            try await central.connect()
            #expect(central.scan().isEmpty == (kind == .extended))
            #expect(await application.advertise() == "org.bluez.Error.AlreadyExists: Already Exists")
            if kind == .extended {
                #expect(await application.unadvertise() == "ok")
                #expect(await application.advertise() == "ok")
                #expect(central.scan().count == 1)
            }
            let other = central.makeAnother()
            try await other.connect()
            central.disconnect()
            #expect(central.scan().count == 1)
        }
    }
}
