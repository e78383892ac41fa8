import Glibc
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting

/// Several centrals at once.
///
/// In each round, each central reads a value with a handler and receives a
/// notification.
final class Centrals: Sendable {
    private static let rounds = 200
    private let value = [UInt8](repeating: 0, count: 20)
    private let reading: Characteristic<[UInt8]>
    private let updates = Characteristic<[UInt8]>("5C3A0003-7E3C-4B6E-9D29-B3F1C0A1D001", .notify)
    private let peripheral: Peripheral

    init() {
        let (value, updates) = (value, updates)
        let reading = Characteristic<[UInt8]>("5C3A0002-7E3C-4B6E-9D29-B3F1C0A1D001", .read) {
            Read { value }
        }
        self.reading = reading
        peripheral = Peripheral("Benchmark") {
            GATTService("5C3A0001-7E3C-4B6E-9D29-B3F1C0A1D001") {
                reading
                updates
            }
        }
    }

    static func lines(_ count: Int) async throws -> [Line] {
        let run = Centrals()
        var lines: [Line] = []
        for centrals in [1, 5, 20] { lines.append(try await run.inMemory(centrals, count)) }
        for centrals in [1, 5, 20] { lines.append(try await run.emulated(centrals, count)) }
        return lines
    }

    private func inMemory(_ centrals: Int, _ count: Int) async throws -> Line {
        let backend = InMemoryBackend()
        let costs = try await peripheral.run(on: backend) { session in
            try await self.measure(
                (0..<centrals).map { _ in backend.makeCentral(of: self.peripheral) },
                session,
                count
            )
        }
        return line("in memory", centrals, costs)
    }

    private func emulated(_ centrals: Int, _ count: Int) async throws -> Line {
        let costs = try await withEmulatedBlueZ { bluez in
            try await self.peripheral.run(on: bluez.backend) { session in
                try await self.measure(
                    (0..<centrals).map { _ in bluez.central(for: self.peripheral) },
                    session,
                    count
                )
            }
        }
        return line("emulated", centrals, costs)
    }

    private func line(_ backend: String, _ centrals: Int, _ costs: [Double]) -> Line {
        Line(
            "\(centrals) \(centrals == 1 ? "central" : "centrals"), \(backend)",
            "processor time of a read and a notification, with the stack",
            in: .microseconds,
            costs
        )
    }

    /// The processor time of this process for each central and round, in nanoseconds.
    private func measure(
        _ centrals: [VirtualCentral],
        _ session: PeripheralSession,
        _ count: Int
    ) async throws -> [Double] {
        var events = session.events.makeAsyncIterator()
        for (index, central) in centrals.enumerated() {
            try await central.connect()
            try await central.subscribe(to: updates)
            while try session.subscribers(of: updates).count <= index { _ = try await events.next() }
        }
        var costs: [Double] = []
        for series in 0...count {
            let before = processorTime()
            for _ in 0..<Self.rounds { try await round(centrals, session) }
            let cost = Double(processorTime() - before) / Double(Self.rounds * centrals.count)
            if series > 0 { costs.append(cost) }
        }
        for central in centrals { central.disconnect() }
        return costs
    }

    private func round(_ centrals: [VirtualCentral], _ session: PeripheralSession) async throws {
        while try !session.update(updates, value) { try await session.readyToUpdate(updates) }
        try await withThrowingTaskGroup { group in
            for central in centrals {
                group.addTask { try await self.readAndReceive(central) }
            }
            try await group.waitForAll()
        }
    }

    // With the concrete type, Swift 6.3.1 crashes while it optimizes this method.
    private func readAndReceive(_ central: any TestCentral) async throws {
        try await check(central.read(reading))
        try await check(central.nextUpdate(of: updates))
    }

    private func check(_ received: [UInt8]) throws {
        guard received == value else { throw MeasurementError(description: "a central has a wrong value") }
    }

    private func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
