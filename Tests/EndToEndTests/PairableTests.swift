import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Whether the adapter accepts bonds, beside other programs and the settings of bluetoothd.
@Suite(.timeLimit(.minutes(1)))
struct PairableTests {
    private static let secret = Characteristic<UInt8>(0x2A19, .read, security: .encrypted) { Read { 42 } }

    private static func lock(_ pairing: Pairing) -> Peripheral {
        Peripheral("Lock", pairing: pairing) { GATTService(.battery) { secret } }
    }

    /// Another program, or a person with bluetoothctl.
    private struct OtherProgram {
        let connection: BusConnection
        /// The values that bluetoothd has announced.
        let changes = Log<Bool>()

        static func run(
            on bluez: EmulatedBlueZ,
            _ body: @escaping (OtherProgram) async throws -> Void
        ) async throws {
            try await BusObserver.run(on: bluez) { observer in
                let program = OtherProgram(connection: observer.connection)
                let rule = MatchRule(interface: .properties, member: "PropertiesChanged")
                try await observer.connection.subscribe(to: rule) { [changes = program.changes] signal in
                    var arguments = signal.arguments
                    guard let values = try? arguments.readValues(),
                        let isPairable = values[1]["Pairable"]?.bool
                    else { return }
                    changes.append(isPairable)
                }
                try await body(program)
            }
        }

        var isPairable: Bool {
            get async throws {
                let answer = try await connection.call(
                    "org.bluez",
                    "/org/bluez/hci0",
                    .properties,
                    "Get",
                    [.string("org.bluez.Adapter1"), .string("Pairable")]
                )
                return answer.first?.bool ?? false
            }
        }

        func set(_ property: String, _ value: BusValue) async throws {
            _ = try await connection.call(
                "org.bluez",
                "/org/bluez/hci0",
                .properties,
                "Set",
                [.string("org.bluez.Adapter1"), .string(property), .variant(value)]
            )
        }

        func registerAgent(asDefault isDefault: Bool = false) async throws {
            try await manageAgents("RegisterAgent", [.objectPath("/other"), .string("NoInputNoOutput")])
            if isDefault { try await manageAgents("RequestDefaultAgent", [.objectPath("/other")]) }
        }

        func unregisterAgent() async throws {
            try await manageAgents("UnregisterAgent", [.objectPath("/other")])
        }

        private func manageAgents(_ member: MemberName, _ arguments: [BusValue]) async throws {
            _ = try await connection.call(
                "org.bluez",
                "/org/bluez",
                "org.bluez.AgentManager1",
                member,
                arguments
            )
        }
    }

    @Test func theWindowOutlastsTheTimeoutOfTheAdapter() async throws {
        let clock = ManualClock()
        try await withEmulatedBlueZ(.init(clock: clock)) { bluez in
            try await OtherProgram.run(on: bluez) { other in
                try await other.set("PairableTimeout", .uint32(5))
                let lock = Self.lock(.justWorks.onlyWhenAllowed())
                try await lock.run(on: bluez.backend, logger: .silent) { session in
                    try await session.allowPairing(for: .seconds(60))
                    // bluetoothd may set its timer only after it has announced the change.
                    try await until {
                        clock.advance(by: .seconds(1))
                        return other.changes.entries.count { !$0 } >= 3
                    }
                    try await until { other.changes.entries.last == true }
                    let central = bluez.central(for: lock)
                    try await central.connect()
                    try await central.pair(.justWorks)
                }
            }
        }
    }

    @Test func eachCallThatOpensTheWindowWaitsForTheAdapter() async throws {
        try await withEmulatedBlueZ { bluez in
            let lock = Self.lock(.justWorks.onlyWhenAllowed())
            try await lock.run(on: bluez.backend, logger: .silent) { session in
                let central = bluez.central(for: lock)
                try await central.connect()
                async let first: Void = session.allowPairing(for: .seconds(60))
                try await until { session.isPairingAllowed }
                try await session.allowPairing(for: .seconds(60))
                try await central.pair(.justWorks)
                try await first
            }
        }
    }

    @Test func aPersonWhoMakesTheAdapterNotPairableDoesNotEndTheWindow() async throws {
        try await withEmulatedBlueZ { bluez in
            try await OtherProgram.run(on: bluez) { other in
                let lock = Self.lock(.justWorks.onlyWhenAllowed())
                try await lock.run(on: bluez.backend, logger: .silent) { session in
                    try await session.allowPairing(for: .seconds(60))
                    try await other.set("Pairable", .bool(false))
                    try await until { other.changes.entries.suffix(2) == [false, true] }
                    let central = bluez.central(for: lock)
                    try await central.connect()
                    try await central.pair(.justWorks)
                }
                #expect(try await !other.isPairable)
            }
        }
    }

    @Test(arguments: [true, false])
    func theAgentOfAnotherProgramDoesNotOpenTheWindow(isDefault: Bool) async throws {
        try await withEmulatedBlueZ { bluez in
            try await OtherProgram.run(on: bluez) { other in
                let lock = Self.lock(.justWorks.onlyWhenAllowed())
                try await lock.run(on: bluez.backend, logger: .silent) { _ in
                    // bluetoothd announces its changes before it answers. How many of them the program undoes
                    // together depends on its speed.
                    try await other.registerAgent(asDefault: isDefault)
                    try await until { other.changes.entries.last != true }
                    try await other.unregisterAgent()
                    try await until { other.changes.entries.last == false }
                    #expect(other.changes.entries.contains(true))
                    #expect(try await !other.isPairable)
                }
                #expect(try await !other.isPairable)
            }
        }
    }

    /// bluetoothd makes the adapter pairable when the run's agent ends, because another agent is left.
    @Test(arguments: [Pairing.justWorks, .justWorks.onlyWhenAllowed(), .none])
    func theChoiceOfAPersonIsRestored(pairing: Pairing) async throws {
        try await withEmulatedBlueZ { bluez in
            try await OtherProgram.run(on: bluez) { other in
                try await other.registerAgent()
                for isPairable in [false, true] {
                    try await other.set("Pairable", .bool(isPairable))
                    let peripheral = Peripheral("Open", pairing: pairing) {
                        GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 42) }
                    }
                    try await peripheral.run(on: bluez.backend, logger: .silent) { _ in }
                    #expect(try await other.isPairable == isPairable)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func nobodyIsLeftToPairAfterTwoRuns(firstEndsFirst: Bool) async throws {
        try await withEmulatedBlueZ { bluez in
            try await OtherProgram.run(on: bluez) { other in
                let ends = [Signal<Void>(), Signal<Void>()]
                let runs = [Signal<Void>(), Signal<Void>()]
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in [0, 1] {
                        group.addTask {
                            try await Self.lock(.justWorks).run(on: bluez.backend, logger: .silent) { _ in
                                runs[number].send()
                                try await ends[number].next()
                            }
                            return number
                        }
                        try await runs[number].next()
                    }
                    let order = firstEndsFirst ? [0, 1] : [1, 0]
                    for (index, number) in order.enumerated() {
                        ends[number].send()
                        #expect(try await group.next() == number)
                        // The other run makes the adapter pairable again.
                        if index == 0 { try await until { other.changes.entries.last == true } }
                    }
                }
                #expect(try await !other.isPairable)
            }
        }
    }

    /// The peripheral that started last decides for both.
    @Test func aRunWithAClosedWindowDoesNotKeepAnotherRunFromPairing() async throws {
        try await withEmulatedBlueZ { bluez in
            try await OtherProgram.run(on: bluez) { other in
                let (closed, open) = (Self.lock(.justWorks.onlyWhenAllowed()), Self.lock(.justWorks))
                try await closed.run(on: bluez.backend, logger: .silent) { session in
                    try await open.run(on: bluez.backend, logger: .silent) { _ in
                        // Each of them sets its value until the first one stops.
                        try await until { other.changes.entries.count { !$0 } == 4 }
                        try await until { other.changes.entries.last == true }
                        let central = bluez.central(for: open)
                        try await central.connect()
                        try await central.pair(.justWorks)
                    }
                    #expect(try await !other.isPairable)
                    #expect(!session.isPairingAllowed)
                }
            }
        }
    }
}
