import PeripheralBlueZ
import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Programs that request handles on the same adapter: none loses a service, and none answers another's
/// requests.
@Suite(.timeLimit(.minutes(2)))
struct SeveralProgramsTests {
    private static let daemons = [BlueZVersion.v5_66, .v5_82, .v5_87].map {
        EmulatedBlueZ.Configuration(version: $0)
    }

    private static var busy: EmulatedBlueZ.Configuration {
        var daemon = EmulatedBlueZ.Configuration(version: .v5_87)
        daemon.isBusy = true
        return daemon
    }

    /// A program whose service has the same type and size as those of the others.
    struct Program: Sendable {
        let number: UInt8
        let store = InMemoryRestorationStore()
        let value: Characteristic<UInt8>
        let peripheral: Peripheral

        init(_ number: UInt8, pinned handle: AttributeHandle? = nil, size: Int = 1, isPreserved: Bool = true)
        {
            self.number = number
            let value = Characteristic<UInt8>(0x2A19, .read) { Read { number } }
            self.value = value
            let others = (1..<size).map { _ in Characteristic<UInt8>(0x2A19, .read) { Read { number } } }
            peripheral = Peripheral(
                "Program \(number)",
                restorationIdentifier: isPreserved ? "com.example.program\(number)" : nil
            ) {
                GATTService(.battery, handle: handle) {
                    value
                    others
                }
            }
        }

        /// Runs the program; the body receives the handle of its value.
        ///
        /// `hasMoved` is true if the program received `handlesChanged`.
        func run(
            on backend: some PeripheralBackend,
            _ body: @escaping @Sendable (AttributeHandle, _ hasMoved: Bool) async throws -> Void
        ) async throws {
            let work: @Sendable (PeripheralSession) async throws -> Void = { [value] session in
                let handle = try #require(try session.handle(of: value))
                var hasMoved = false
                if let before = session.restored?.handle(of: value), before != handle {
                    var events = session.events.makeAsyncIterator()
                    hasMoved = try await events.next() == .handlesChanged
                }
                try await body(handle, hasMoved)
            }
            if peripheral.restorationIdentifier == nil {
                try await peripheral.run(on: backend, logger: .silent, work)
            } else {
                try await peripheral.run(on: backend, restoringFrom: store, logger: .silent, work)
            }
        }

        /// Has the program run once, alone.
        func runOnce(on backend: some PeripheralBackend) async throws -> AttributeHandle {
            let found = Log<AttributeHandle>()
            try await run(on: backend) { handle, _ in found.append(handle) }
            return try #require(found.entries.first)
        }

        /// Where a version from before there were claims has preserved its services: at 0x0100.
        func preserveAsBefore() async throws {
            #expect(try await runOnce(on: InMemoryBackend()) == 0x0102)
        }
    }

    private struct Running {
        var program: Program
        var handle: AttributeHandle
        var hasMoved: Bool
    }

    /// Starts one program after the other, looks whether each serves its own value, and then ends them.
    private func run(_ programs: [Program], on bluez: EmulatedBlueZ, _ running: [Running] = []) async throws
        -> [Running]
    {
        guard let next = programs.first else {
            try await expectAllServe(running, on: bluez)
            return running
        }
        let all = Log<Running>()
        try await next.run(on: bluez.backend) { handle, hasMoved in
            let started = running + [Running(program: next, handle: handle, hasMoved: hasMoved)]
            for entry in try await run(Array(programs.dropFirst()), on: bluez, started) { all.append(entry) }
        }
        return all.entries
    }

    /// Waits until each program serves its own value where it has been.
    private func untilAllServe(_ running: [Running], on bluez: EmulatedBlueZ) async throws {
        let central = bluez.central(for: try #require(running.first).program.peripheral)
        let limit = ContinuousClock.now + .seconds(60)
        try await until {
            if ContinuousClock.now > limit { return true }
            // It stays connected: each connection is news for all on the bus.
            try? await central.connect()
            for entry in running {
                let value = try? await central.read(entry.handle, offset: 0)
                guard value == [entry.program.number] else { return false }
            }
            return true
        }
        central.disconnect()
        try await expectAllServe(running, on: bluez)
    }

    private func expectAllServe(_ running: [Running], on bluez: EmulatedBlueZ) async throws {
        let central = bluez.central(for: try #require(running.first).program.peripheral)
        try await central.connect()
        for entry in running {
            #expect(try await central.read(entry.handle, offset: 0) == [entry.program.number])
        }
        let services = try await central.discover().applicationServices.map(\.handles)
        #expect(services.count == running.count)
        for (one, other) in zip(services, services.dropFirst()) { #expect(one.upperBound < other.lowerBound) }
        central.disconnect()
    }

    /// Waits until each program serves its own value, wherever it is.
    private func untilServed(by programs: [Program], on bluez: EmulatedBlueZ) async throws {
        let central = bluez.central(for: programs[0].peripheral)
        let limit = ContinuousClock.now + .seconds(60)
        var values: Set<[UInt8]> = []
        let expected = Set(programs.map { [$0.number] })
        try await until {
            try? await central.connect()
            let services = (try? await central.discover().applicationServices) ?? []
            values = []
            for handle in services.compactMap(\.characteristics.first?.valueHandle) {
                if let value = try? await central.read(handle, offset: 0) { values.insert(value) }
            }
            return values == expected && services.count == programs.count || .now > limit
        }
        central.disconnect()
        #expect(values == expected)
    }

    @Test(arguments: daemons)
    func theFirstKeepsItsHandlesAndTheOthersMove(daemon: EmulatedBlueZ.Configuration) async throws {
        let programs = [Program(1), Program(2), Program(3)]
        for program in programs { try await program.preserveAsBefore() }
        try await withEmulatedBlueZ(daemon) { bluez in
            let first = try await run(programs, on: bluez)
            #expect(first.map(\.hasMoved) == [false, true, true])
            #expect(first[0].handle == 0x0102)
            let places = first.map(\.handle)
            // A restart of the programs, in every order, and one of the device: each has its own handles now.
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
                let again = try await run(order.map { programs[$0] }, on: bluez)
                #expect(again.map(\.handle) == order.map { places[$0] })
                #expect(again.allSatisfy { !$0.hasMoved })
                try await bluez.restartDaemon()
            }
        }
    }

    @Test(arguments: daemons + [busy])
    func programsThatStartAtOnceServe(daemon: EmulatedBlueZ.Configuration) async throws {
        let programs = (1...3 as ClosedRange<UInt8>).map { Program($0) }
        for program in programs { try await program.preserveAsBefore() }
        try await withEmulatedBlueZ(daemon) { bluez in
            let running = Log<Running>()
            let end = Signal<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for program in programs {
                    group.addTask {
                        try await program.run(on: bluez.backend) { handle, hasMoved in
                            running.append(Running(program: program, handle: handle, hasMoved: hasMoved))
                            try await end.next()
                        }
                    }
                }
                try await until { running.entries.count == programs.count }
                try await expectAllServe(running.entries, on: bluez)
                for _ in programs { end.send() }
                try await group.waitForAll()
            }
            #expect(running.entries.count { !$0.hasMoved } == 1)
        }
    }

    /// This also holds if bluetoothd does not report the handles that it has chosen.
    @Test(arguments: daemons + [EmulatedBlueZ.Configuration(version: "5.75")])
    func aPinnedServiceOfAnotherProgramStays(daemon: EmulatedBlueZ.Configuration) async throws {
        let first = Program(1, pinned: 0x0100, isPreserved: false)
        let second = Program(2, pinned: 0x0100, isPreserved: false)
        let third = Program(3, pinned: 0x0110, isPreserved: false)
        try await withEmulatedBlueZ(daemon) { bluez in
            try await first.run(on: bluez.backend) { handle, _ in
                let error = await #expect(throws: PeripheralError.self) {
                    try await second.run(on: bluez.backend(recovery: .never)) { _, _ in }
                }
                #expect(error?.code == .rejected)
                #expect(error.map { "\($0)".contains("cannot be pinned at 0x0100") } == true)
                let running = try await run(
                    [third],
                    on: bluez,
                    [Running(program: first, handle: handle, hasMoved: false)]
                )
                #expect(running.map(\.handle) == [0x0102, 0x0112])
            }
        }
    }

    /// 61 handles from 0x0100 on, around the small one.
    @Test(arguments: daemons)
    func aLargeServiceDoesNotEncloseTheSmallOneOfAnotherProgram(daemon: EmulatedBlueZ.Configuration)
        async throws
    {
        let (large, small) = (Program(9, size: 30), Program(1, pinned: 0x0122, isPreserved: false))
        try await large.preserveAsBefore()
        try await withEmulatedBlueZ(daemon) { bluez in
            let running = try await run([small, large], on: bluez)
            #expect(running.map(\.hasMoved) == [false, true])
        }
    }

    /// bluetoothd has placed a service at the former handles of the large one.
    ///
    /// No program has claimed these handles.
    @Test(arguments: daemons)
    func aServiceThatBluetoothdHasPlacedIsNotEnclosed(daemon: EmulatedBlueZ.Configuration) async throws {
        let (large, low) = (Program(9, size: 30), Program(1, pinned: 0x0100, isPreserved: false))
        let placed = Program(2, isPreserved: false)
        try await large.preserveAsBefore()
        try await withEmulatedBlueZ(daemon) { bluez in
            _ = try await low.runOnce(on: bluez.backend)
            let running = try await run([placed, large], on: bluez)
            #expect(running.map(\.hasMoved) == [false, true])
            #expect(running[0].handle == 0x0112)
            // From now on there is room for both.
            let again = try await run([placed, large], on: bluez)
            #expect(again[1].handle == running[1].handle)
        }
    }

    /// Neither is an equal service at the same handle taken for the program's own.
    @Test(arguments: daemons)
    func aServiceThatBluetoothdHasPlacedIsNotTaken(daemon: EmulatedBlueZ.Configuration) async throws {
        let (placed, low) = (Program(2, isPreserved: false), Program(1, pinned: 0x0100, isPreserved: false))
        let restored = Program(3, pinned: 0x0110)
        try await withEmulatedBlueZ(daemon) { bluez in
            _ = try await low.runOnce(on: bluez.backend)
            try await placed.run(on: bluez.backend) { handle, _ in
                #expect(handle == 0x0112)
                await #expect(throws: PeripheralError.self) {
                    try await restored.run(on: bluez.backend(recovery: .never)) { _, _ in }
                }
                try await expectAllServe(
                    [Running(program: placed, handle: handle, hasMoved: false)],
                    on: bluez
                )
            }
        }
    }

    /// What bluetoothd has refused stays there until it has nothing else to do.
    @Test(arguments: daemons)
    func aBusyBluetoothdHasNothingOfTheProgramInItsWay(daemon: EmulatedBlueZ.Configuration) async throws {
        var daemon = daemon
        daemon.isBusy = true
        let programs = [Program(1), Program(2, size: 20), Program(3)]
        for program in programs { try await program.preserveAsBefore() }
        try await withEmulatedBlueZ(daemon) { bluez in
            let first = try await run(programs, on: bluez)
            #expect(first.map(\.hasMoved) == [false, true, true])
            try await bluez.restartDaemon()
            let again = try await run(programs.reversed(), on: bluez)
            #expect(again.allSatisfy { !$0.hasMoved })
            #expect(again.map(\.handle) == first.map(\.handle).reversed())
        }
    }

    /// bluetoothd would place it there.
    @Test(arguments: daemons)
    func aLargeServiceThatBluetoothdPlacesIsNotAmongTheClaims(daemon: EmulatedBlueZ.Configuration)
        async throws
    {
        let large = Program(9, size: 115, isPreserved: false)
        let pinned = Program(1, pinned: 0x0300, isPreserved: false)
        try await withEmulatedBlueZ(daemon) { bluez in
            let running = try await run([large, pinned], on: bluez)
            #expect(running.map(\.handle) == [0x0102, 0x0302])
        }
    }

    /// What bluetoothd has placed, and what a program requests that starts as it recovers.
    @Test(arguments: daemons)
    func aProgramThatStartsDuringARecoveryTakesNothing(daemon: EmulatedBlueZ.Configuration) async throws {
        let placed = Program(9, size: 115, isPreserved: false)
        try await withEmulatedBlueZ(daemon) { bluez in
            try await placed.run(on: bluez.backend) { handle, _ in
                #expect(handle == 0x0102)
                for number in 1...5 as ClosedRange<UInt8> {
                    let starting = Program(number, size: 115)
                    try await starting.preserveAsBefore()
                    await bluez.killDaemon()
                    async let restart: Void = bluez.startDaemon()
                    try await starting.run(on: bluez.backend) { _, _ in
                        try await untilServed(by: [placed, starting], on: bluez)
                    }
                    try await restart
                }
            }
        }
    }

    /// Without another program, nothing is in the way, and a restart asks bluetoothd for nothing that it was
    /// asked before.
    @Test(arguments: daemons)
    func aRestartFindsItsHandlesAndTheSameDatabase(daemon: EmulatedBlueZ.Configuration) async throws {
        let program = Program(1)
        try await withEmulatedBlueZ(daemon) { bluez in
            let central = bluez.central(for: program.peripheral)
            let databases = Log<DiscoveredDatabase>()
            for _ in 0..<3 {
                try await program.run(on: bluez.backend) { handle, _ in
                    #expect(handle == 0x0102)
                    try await central.connect()
                    databases.append(try await central.discover())
                    central.disconnect()
                }
            }
            #expect(Set(databases.entries).count == 1)
        }
    }

    /// All recover at the same moment, some in blocks next to each other, and some in one block, where
    /// bluetoothd has put them.
    @Test(arguments: daemons + [busy])
    func allReturnToTheirHandlesWhenBluetoothdRestarts(daemon: EmulatedBlueZ.Configuration) async throws {
        let programs =
            [Program(1), Program(2, size: 8)]
            + (3...5 as ClosedRange<UInt8>).map { Program($0, isPreserved: false) }
        for program in programs.prefix(2) { try await program.preserveAsBefore() }
        try await withEmulatedBlueZ(daemon) { bluez in
            _ = try await run(programs, on: bluez)
            // On a busy machine, each program needs seconds before it releases its blocks.
            let clock = SlowClock(by: 5)
            let running = Log<Running>()
            let end = Signal<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for program in programs {
                    group.addTask {
                        try await program.run(on: bluez.backend(clock: clock)) { handle, hasMoved in
                            running.append(Running(program: program, handle: handle, hasMoved: hasMoved))
                            try await end.next()
                        }
                    }
                }
                try await until { running.entries.count == programs.count }
                for _ in 0..<5 {
                    try await bluez.restartDaemon()
                    try await untilAllServe(running.entries, on: bluez)
                }
                for _ in programs { end.send() }
                try await group.waitForAll()
            }
            #expect(running.entries.allSatisfy { !$0.hasMoved })
        }
    }

    /// Of two programs with several blocks in common, one keeps all of them.
    @Test(arguments: daemons)
    func oneOfTwoThatStartAtOnceKeepsAllItsHandles(daemon: EmulatedBlueZ.Configuration) async throws {
        let programs = [Program(1, size: 20), Program(2, size: 20)]
        for program in programs { try await program.preserveAsBefore() }
        try await withEmulatedBlueZ(daemon) { bluez in
            let moved = Log<Bool>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for program in programs {
                    group.addTask {
                        try await program.run(on: bluez.backend) { _, hasMoved in
                            moved.append(hasMoved)
                            try await until { moved.entries.count == 2 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(Set(moved.entries) == [true, false])
        }
    }

    /// What bluetoothd has placed is in no program's way.
    @Test(arguments: daemons)
    func aPinnedProgramStartsBesideOneThatHasRecovered(daemon: EmulatedBlueZ.Configuration) async throws {
        let low = Program(1, pinned: 0x0100, isPreserved: false)
        let placed = Program(2, isPreserved: false)
        try await withEmulatedBlueZ(daemon) { bluez in
            _ = try await low.runOnce(on: bluez.backend)
            try await placed.run(on: bluez.backend) { handle, _ in
                try await bluez.restartDaemon()
                let running = [Running(program: placed, handle: handle, hasMoved: false)]
                try await untilAllServe(running, on: bluez)
                _ = try await run([low], on: bluez, running)
            }
        }
    }
}
