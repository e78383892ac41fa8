import PeripheralBlueZModel
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralTesting
import Testing

@testable import PeripheralBlueZ

/// What a program has reserved, no other program reserves.
@Suite(.timeLimit(.minutes(1)))
struct HandleReservationTests {
    private static let daemons = [BlueZVersion("5.66"), "5.75", "5.82", "5.87"].map {
        EmulatedBlueZ.Configuration(version: $0, clock: ManualClock())
    }

    /// A reservation with its connection to the bus.
    private struct Program {
        let reservation = HandleReservation(HandleRecord())
        let daemon: HandleReservation.Daemon

        func reserve(
            _ ranges: ClosedRange<AttributeHandle>...,
            refused block: HandleBlock? = nil,
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            let refused = try await reservation.reserve(ranges, in: daemon)
            #expect(refused == Set(block.map { [$0] } ?? []), sourceLocation: location)
        }

        func isReserved(_ range: ClosedRange<AttributeHandle>) async throws -> Bool {
            try await reservation.reserve([range], in: daemon).isEmpty
        }

        func services(at handle: AttributeHandle) -> PlaceholderServices {
            PlaceholderServices(at: [handle], root: "/services", on: daemon.connection)
        }
    }

    /// Runs a test with two programs.
    private func withPrograms(
        on configuration: EmulatedBlueZ.Configuration,
        _ body: (Program, Program) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(configuration) { bluez in
            let loop = EventLoop(name: "programs")
            var connections: [BusConnection] = []
            var programs: [Program] = []
            for _ in 0..<2 {
                let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
                connections.append(connection)
                _ = try await connection.watchName(BlueZ.name) { _ in }
                let daemon = HandleReservation.Daemon(
                    connection: connection,
                    managers: try AdapterManagers(of: "/org/bluez/hci0", on: connection),
                    database: "one",
                    reportsHandles: configuration.version != "5.75",
                    clock: ContinuousClock()
                )
                programs.append(Program(daemon: daemon))
            }
            try await body(programs[0], programs[1])
            for connection in connections { await connection.close() }
            await loop.stop()
        }
    }

    @Test(arguments: daemons)
    func anotherProgramDoesNotGetAReservedBlock(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            try await first.reserve(0x0100...0x0106)
            // Other handles of the same block.
            try await second.reserve(0x0108...0x010F, refused: HandleBlock(of: 0x0100))
            try await second.reserve(0x0110...0x0116)
            try await first.reserve(0x0100...0x0112, refused: HandleBlock(of: 0x0110))
        }
    }

    /// A refused program has no claim that stops the program that it has met.
    @Test(arguments: daemons)
    func aReleasedBlockIsFree(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            try await first.reserve(0x0100...0x0106, 0x0120...0x0126)
            try await second.reserve(0x0120...0x0126, refused: HandleBlock(of: 0x0120))
            try await first.reserve(0x0100...0x0106)
            try await second.reserve(0x0120...0x0126)
            try await second.reserve(0x0100...0x0106, refused: HandleBlock(of: 0x0100))
            try await first.reservation.release(in: first.daemon)
            try await second.reserve(0x0100...0x0106)
        }
    }

    /// The programs use the same block, because bluetoothd had chosen their handles.
    ///
    /// bluetoothd 5.75 does not report handles, so nothing shows a new page. The first keeps the block there.
    @Test(arguments: daemons)
    func programsReturnToHandlesThatBluetoothdHadChosen(daemon: EmulatedBlueZ.Configuration) async throws {
        let block = daemon.version == "5.75" ? HandleBlock(of: 0x0020) : nil
        try await withPrograms(on: daemon) { first, second in
            try await second.reserve(0x0100...0x0106)
            try await first.reserve(0x0020...0x0022)
            try await first.reservation.keep([], in: first.daemon)
            try await second.reserve(0x0024...0x0026, refused: block)
            if block != nil { return }
            try await second.reservation.keep([], in: second.daemon)
            try await first.reserve(0x0028...0x002A)
        }
    }

    /// The pages end before the handles that the Database Hash does not cover.
    @Test(arguments: daemons)
    func thereIsAPageForEachOfTenReturns(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            var returns = 0
            while true {
                try await first.reserve(0x0020...0x0022)
                try await first.reservation.keep([], in: first.daemon)
                guard try await second.isReserved(0x0028...0x002A) else { break }
                try await second.reservation.release(in: second.daemon)
                returns += 1
            }
            #expect(returns == (daemon.version == "5.75" ? 0 : 10))
            let next = PlaceholderServices(at: [nil], root: "/next", on: first.daemon.connection)
            let chosen = try await next.attempt(by: first.daemon.managers).chosen
            #expect(chosen.allSatisfy { $0 < 0x0400 })
        }
    }

    /// A program that has checked its handles checks them again if another program may have returned to them.
    @Test(arguments: daemons)
    func aProgramFindsTheOneThatReturnedToTheHandlesItHasChecked(daemon: EmulatedBlueZ.Configuration)
        async throws
    {
        try await withPrograms(on: daemon) { first, second in
            try await second.reserve(0x0100...0x0106)
            try await second.reservation.release(in: second.daemon)
            try await first.reserve(0x0100...0x0106)
            #expect(try await first.services(at: 0x0103).register(by: first.daemon.managers))
            try await first.reservation.keep([], in: first.daemon)
            try await second.reserve(0x0100...0x0106, refused: HandleBlock(of: 0x0100))
        }
    }

    /// Otherwise it does not check them again, although each start of another program uses a handle.
    @Test(arguments: daemons)
    func aProgramChecksItsHandlesOnce(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            try await second.reserve(0x0100...0x0106)
            try await second.reservation.release(in: second.daemon)
            try await first.reserve(0x0110...0x0116)
            // A program of another framework.
            #expect(try await first.services(at: 0x0103).register(by: first.daemon.managers))
            try await second.reserve(0x0100...0x0106)
        }
    }

    /// The end of a program ends its claims.
    @Test(arguments: daemons)
    func theEndOfAProgramReleasesItsBlocks(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            try await first.reserve(0x0100...0x0106)
            try await second.reserve(0x0100...0x0106, refused: HandleBlock(of: 0x0100))
            await first.daemon.connection.close()
            try await second.reserve(0x0100...0x0106)
        }
    }

    /// Half of the blocks stay for other programs, however many services a program adds and removes.
    @Test(arguments: daemons)
    func theBlocksOfLongRemovedServicesAreReleased(daemon: EmulatedBlueZ.Configuration) async throws {
        try await withPrograms(on: daemon) { first, second in
            let starts = HandleBlock.belowEndOfHash.map(\.handles.lowerBound)
            // The first service stays.
            for start in starts {
                let refused = try await first.reservation.reserve(
                    [start...start],
                    besides: [starts[0]...starts[0]],
                    in: first.daemon
                )
                #expect(refused.isEmpty)
                await first.reservation.keepRoom(for: [start...start])
            }
            let (last, half) = (starts.count - 1, starts.count / 2)
            for free in [1, last - half - 1] { try await second.reserve(starts[free]...starts[free]) }
            for used in [0, last - half, last] {
                let start = starts[used]
                try await second.reserve(start...start, refused: HandleBlock(of: start))
            }
        }
    }
}
