import CRegistration
import Glibc
import OwnThread
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Changes the services of a peripheral at random while a central is connected.
///
/// The central has subscribed to a value of a service that stays, and to Service Changed. The run compares
/// what the central receives and discovers, and the exported objects, with the declaration. It also looks at
/// the memory of this program and of bluetoothd.
struct ChangesRun {
    /// How much more memory than after the first changes there may be, in kB.
    private static let mostGrowth = 1024
    /// The number of changes after which all code has run, so that its own memory no longer counts.
    private static let warmUp = 50
    /// The number of changes from one comparison of the database to the next.
    private static let interval = 25

    private let adapter: DeviceAddress
    private let count: Int
    private let seed: UInt64
    private let hasNew: Bool

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - adapter: The address of the adapter.
    ///   - count: The number of changes.
    ///   - seed: Determines the changes.
    ///   - hasNew: Whether new services appear again and again. They need more handles than can be reserved,
    ///     so BlueZ sends further indications. The run then does not compare the indications.
    init(on adapter: DeviceAddress, count: Int, seed: UInt64, hasNew: Bool) {
        (self.adapter, self.count, self.seed, self.hasNew) = (adapter, count, seed, hasNew)
    }

    /// Makes the changes, and exits with the result.
    ///
    /// Returns `false` if the changes could not begin.
    func run(_ program: String) async throws -> Bool {
        let base = Characteristic<UInt32>(ChangesWitness.baseValue, [.read, .notify]) { Read { 0 } }
        let gateway = Peripheral("Gateway", reservedHandles: 512) {
            GATTService(ChangesWitness.baseService) { base }
        }
        // Otherwise only bluetoothd sees the objects that this program exports.
        guard await OwnThread.run({ registration_allow_introspection() == 0 }) else { return false }
        try await CentralPool.run(program) { pool in
            try await gateway.run(on: .bluez(recovery: .never)) { session in
                let central = BumbleCentral(of: gateway, on: adapter, from: pool)
                try await central.connect()
                let failures = try await change(session, base, ChangesWitness(central, isExact: !hasNew))
                for failure in failures { print("FAIL  \(failure)") }
                print(failures.isEmpty ? "1 passed, 0 failed" : "0 passed, 1 failed")
                fflush(nil)
                exit(failures.isEmpty ? 0 : 1)
            }
        }
        return false
    }

    /// Returns what was not as declared.
    private func change(
        _ session: PeripheralSession,
        _ base: Characteristic<UInt32>,
        _ witness: ChangesWitness
    ) async throws -> [String] {
        var (witness, services) = (witness, ChangingServices(seed: seed, hasNew: hasNew))
        try await witness.subscribe()
        _ = try await session.waitForSubscriber(of: base)
        try await witness.compare(with: [], after: 0)
        var before = memory()
        let start = ContinuousClock.now
        report(before, before, after: 0)
        func apply(_ change: ChangingServices.Change, _ number: Int) async throws {
            switch change {
            case .add(let sensor): try await session.add { sensor.service }
            case .remove(let sensor): try await session.remove(sensor.service)
            case .replace(let sensor, let other):
                try await session.replace(sensor.service) { other.service }
            }
            try await session.notify(base, UInt32(number))
            try await witness.observe(change, number)
        }
        for number in 1...count {
            try await apply(services.change(), number)
            if number % Self.interval == 0 || number == count {
                try await witness.compare(with: services.present, after: number)
            }
            if number == Self.warmUp { before = memory() }
            if number == Self.warmUp || number % 200 == 0 || number == count {
                report(memory(), before, after: number)
                fflush(nil)
            }
        }
        let after = memory()
        // The services are now the same as before, so the heap is comparable.
        for (index, sensor) in services.present.enumerated() {
            try await apply(.remove(sensor), count + 1 + index)
        }
        let end = count + services.present.count
        try await witness.compare(with: [], after: end)
        report(memory(), before, after: end)
        print("      \(end) changes in \(ContinuousClock.now - start); \(witness.summary)")
        var failures = witness.failures
        for ((name, first), (_, last)) in zip(before, after) where last.now - first.now > Self.mostGrowth {
            failures.append("\(name) has \(last.now - first.now) kB more than after the first changes")
        }
        return failures
    }

    private typealias Memory = [(name: String, memory: ProcessTable.Memory)]

    private func memory() -> Memory {
        [("program", getpid()), ("bluetoothd", ProcessTable.daemon)].map { name, identifier in
            (name, ProcessTable.memory(of: identifier))
        }
    }

    private func report(_ memory: Memory, _ before: Memory, after number: Int) {
        let texts = zip(memory, before).map { now, before in
            "\(now.name) \(now.memory.now) kB (\(now.memory.now - before.memory.now) more), of which "
                + "\(now.memory.anonymous) kB (\(now.memory.anonymous - before.memory.anonymous) more) of no file"
        }
        let heap = registration_heap() / 1024
        print("      after \(number) changes: \(texts.joined(separator: "; ")); heap \(heap) kB")
    }
}
