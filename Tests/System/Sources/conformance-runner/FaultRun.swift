import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Makes each fault happen at random moments during traffic, in the middle of a document, and looks whether
/// the peripheral comes back as it was, and sends documents whole.
struct FaultRun {
    private static let value = Characteristic<UInt32>(0x2A56, [.read, .write, .notify]) {
        Read { 42 }
        Write { _, _ in }
    }
    private static let log = Characteristic<[UInt8]>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .notify)
    private static let fixed = L2CAPListener(psm: .fixed(0xB0), echo)
    private static let dynamic = L2CAPListener(echo)
    /// The number of channels whose handlers have not returned.
    private static let openChannels = Mutex(0)
    private static let echo: @Sendable (L2CAPChannel) async throws -> Void = { channel in
        openChannels.withLock { $0 += 1 }
        defer { openChannels.withLock { $0 -= 1 } }
        for await packet in channel { try await channel.send(packet) }
    }
    private static let peripheral = Peripheral("Phoenix") {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
            value
            log
            fixed.psm
        }
        fixed
        dynamic
    }
    private static let document = (0..<6_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    private let faults: [Fault]
    private let rounds: Int
    private let adapter: DeviceAddress
    private let seed: UInt64

    init(of faults: [Fault], seed: UInt64, rounds: Int, on adapter: DeviceAddress) {
        self.faults = faults
        self.rounds = rounds
        self.adapter = adapter
        self.seed = seed
    }

    /// Runs all faults, and exits with the result.
    ///
    /// The result is success if the peripheral recovered from each fault each time. Returns `false` if the
    /// faults could not run.
    func run(_ program: String) async throws -> Bool {
        try await CentralPool.run(program) { pool in
            try await Self.peripheral.run(on: .bluez) { session in
                let failed = try await run(session, pool)
                print("\(faults.count * rounds - failed) passed, \(failed) failed")
                fflush(nil)
                // Nothing more can be learnt, and whatever is stuck must not hide it.
                exit(failed == 0 ? 0 : 1)
            }
        }
        return false
    }

    /// - Returns: How often it has failed.
    private func run(_ session: PeripheralSession, _ pool: CentralPool) async throws -> Int {
        var generator = SeededGenerator(state: seed)
        var failed = 0
        var numbers: Numbers?
        for fault in faults {
            var times: [Duration] = []
            for round in 1...rounds {
                let pause = Duration.milliseconds(Int.random(in: 0...300, using: &generator))
                let outage = Duration.milliseconds(Int.random(in: 0...1500, using: &generator))
                let attempt = {
                    let central = BumbleCentral(of: Self.peripheral, on: adapter, from: pool)
                    let found = try await within(.seconds(30)) { try await Self.use(central, session) }
                    let time = try await within(.seconds(60)) {
                        try await Self.suffer(fault, after: pause, for: outage, with: central, session)
                    }
                    try? await central.disconnect()
                    try await within(.seconds(30)) { try await Self.untilChannelsHaveEnded() }
                    return (found, time)
                }
                do {
                    let (found, time) = try await Self.despiteCrashes(attempt)
                    guard numbers ?? found == found else {
                        throw Problem("\(found), not \(numbers ?? found)")
                    }
                    numbers = found
                    times.append(time)
                    print("ok    \(fault), round \(round): back after \(seconds(time)) s")
                } catch {
                    failed += 1
                    print("FAIL  \(fault), round \(round): \(error); \(session.state)")
                    await Rig.order([
                        "start-bus", "plug", "unblock", "start-bluetoothd", "power on", "wait-ready",
                    ])
                }
                fflush(nil)
            }
            let sorted = times.sorted()
            if let longest = sorted.last {
                print(
                    "      \(fault): \(seconds(sorted[sorted.count / 2])) s in the median, \(seconds(longest)) s at most"
                )
            }
        }
        // The last recovery, too, has to have led to a peripheral that can be used.
        do {
            _ = try await Self.despiteCrashes {
                let central = BumbleCentral(of: Self.peripheral, on: adapter, from: pool)
                return try await within(.seconds(30)) { try await Self.use(central, session) }
            }
        } catch {
            failed += 1
            print("FAIL  after the last recovery: \(error); \(session.state)")
        }
        return failed
    }

    /// Does something, and once more when bluetoothd has crashed meanwhile, or has mixed up two connections.
    ///
    /// It uses freed memory when a central has left while its request was unanswered, 5 s after that: from
    /// this, too, the peripheral has to recover. If the memory belongs to a new connection by then, that
    /// connection gets the "unlikely error" of the earlier request.
    private static func despiteCrashes<Output>(_ attempt: () async throws -> Output) async throws -> Output {
        do {
            return try await attempt()
        } catch let error as ATTError where error == .unlikelyError {
            print("      bluetoothd has answered a request of an earlier connection: \(error)")
            return try await attempt()
        } catch {
            guard await !Rig.order(["check-bluetoothd"]) else { throw error }
            print("      bluetoothd has crashed, and is started again: \(error)")
            await Rig.order(["start-bluetoothd", "wait-ready"])
            return try await attempt()
        }
    }

    /// Does all that a central may do.
    ///
    /// - Returns: The numbers that must stay the same.
    private static func use(_ central: BumbleCentral, _ session: PeripheralSession) async throws -> Numbers {
        var events = session.events.makeAsyncIterator()
        try await central.connect()
        guard try await central.read(value) == 42 else { throw Problem("another value") }
        try await central.write(value, 7)
        try await central.subscribe(to: value)
        while try session.subscribers(of: value).isEmpty { _ = try await events.next() }
        try await session.notify(value, 43)
        guard try await central.nextUpdate(of: value) == 43 else { throw Problem("another update") }
        try await central.subscribe(to: log)
        while try session.subscribers(of: log).isEmpty { _ = try await events.next() }
        async let sending: Void = session.send(document, over: log, chunkSize: .maximum)
        var received: [UInt8] = []
        while case let chunk = try await central.nextUpdate(of: log), chunk != Array("EOM".utf8) {
            received += chunk
        }
        try await sending
        guard received == document else { throw Problem("\(received.count) bytes of the document") }
        // The channels stay open until the fault.
        let psm = try session.psm(of: dynamic)
        for psm in [try await central.read(fixed.psm), psm] {
            let channel = try await central.openChannel(psm: psm)
            try await channel.send([44])
            guard try await channel.receive() == [44] else { throw Problem("another packet") }
        }
        return Numbers(handle: try await central.locate(value).valueHandle, psm: psm)
    }

    /// Numbers that must stay the same after each fault.
    private struct Numbers: Equatable {
        /// The handle of the value.
        var handle: AttributeHandle
        /// The PSM that the kernel has chosen.
        var psm: UInt16
    }

    private static func untilChannelsHaveEnded() async throws {
        while openChannels.withLock({ $0 > 0 }) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Has a fault happen while the central reads and writes, and waits until the peripheral is on the air
    /// again.
    ///
    /// - Returns: How long that took from when the fault was undone.
    private static func suffer(
        _ fault: Fault,
        after pause: Duration,
        for outage: Duration,
        with central: BumbleCentral,
        _ session: PeripheralSession
    ) async throws -> Duration {
        let traffic = Task {
            while !Task.isCancelled {
                _ = try await central.read(value)
                try await central.write(value, 1)
            }
        }
        defer { traffic.cancel() }
        // One that is under way fails when its subscriber is gone.
        let sending = Task {
            while try !session.subscribers(of: log).isEmpty {
                try await session.send(document, over: log, chunkSize: .maximum)
            }
        }
        defer { sending.cancel() }
        async let loss: Void = reaches { !$0.isOnTheAir }
        try await Task.sleep(for: pause)
        await Rig.order(fault.orders)
        await loss
        try await Task.sleep(for: outage)
        async let recovery = {
            await reaches { $0.isOnTheAir }
            return ContinuousClock.now
        }()
        await Rig.order(fault.remedy)
        let mended = ContinuousClock.now
        return await max(recovery - mended, .zero)
    }

    /// Waits until the peripheral's state is such.
    private static func reaches(_ isMeant: (PeripheralState) -> Bool) async {
        for await state in peripheral.states where isMeant(state) { return }
    }

    private func seconds(_ duration: Duration) -> String {
        String("\(duration / .seconds(1))".prefix(5))
    }
}

/// What was not as it has to be.
struct Problem: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Waits for something, but not longer than that.
func within<Output: Sendable>(
    _ limit: Duration,
    _ body: @escaping @Sendable () async throws -> Output
) async throws -> Output {
    try await withThrowingTaskGroup { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw Problem("not within \(limit)")
        }
        defer { group.cancelAll() }
        guard let output = try await group.next() else { throw CancellationError() }
        return output
    }
}
