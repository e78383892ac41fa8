import Glibc
import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Many requests, one after the other and all at once.
///
/// The clocks stand still: the program has 4 s for an answer, bluetoothd and the central 5 s, and other tests
/// can keep all threads busy for that long. Nothing here is about these limits.
@Suite(.timeLimit(.minutes(1)))
struct LoadTests {
    /// In a process of its own, where nothing else opens files.
    @Test func tenThousandRequestsLeaveNothingBehind() async throws {
        await #expect(processExitsWith: .success) {
            let value = Characteristic<[UInt8]>(0x2A19, [.read, .write, .notify]) {
                Read { [1] }
                Write { _ in }
            }
            let peripheral = Peripheral("Load") { GATTService(.battery) { value } }
            try await withEmulatedBlueZ(.init(clock: ManualClock())) { bluez in
                try await peripheral.run(on: bluez.backend, logger: .silent, clock: ManualClock()) {
                    session in
                    let central = bluez.central(for: peripheral, clock: ManualClock())
                    try await central.connect()
                    try await central.subscribe(to: value)
                    func request(_ count: Int) async throws {
                        for _ in 0..<count {
                            let read = try await central.read(value)
                            try #require(read == [1])
                            try await central.write(value, [2])
                            try await session.notify(value, [3])
                            let update = try await central.nextUpdate(of: value)
                            try #require(update == [3])
                        }
                    }
                    try await request(100)
                    let files = openFiles()
                    try await request(3300)
                    // The runtime may open a few.
                    try #require(openFiles() < files + 5)
                }
            }
            let before = openFiles()
            for _ in 0..<10 {
                try await withEmulatedBlueZ(.init(clock: ManualClock())) { bluez in
                    try await peripheral.run(on: bluez.backend, logger: .silent, clock: ManualClock()) { _ in
                    }
                }
            }
            // A run with its daemon, buses and loops has a dozen.
            try #require(openFiles() < before + 5)
        }
    }

    /// By sockets, and by the bus.
    @Test func aThousandSubscriptionsLeaveNothingBehind() async throws {
        await #expect(processExitsWith: .success) {
            let value = Characteristic<UInt8>(0x2A19, [.notify, .indicate])
            let peripheral = Peripheral("Guests") { GATTService(.battery) { value } }
            for version in [BlueZVersion.v5_66, .v5_87] {
                try await withEmulatedBlueZ(.init(version: version, clock: ManualClock())) { bluez in
                    try await peripheral.run(on: bluez.backend, logger: .silent, clock: ManualClock()) {
                        session in
                        let central = bluez.central(for: peripheral, clock: ManualClock())
                        let events = session.events
                        func visit(_ count: Int) async throws {
                            for number in 0..<count {
                                try await central.connect()
                                try await central.subscribe(to: value)
                                _ = await events.first {
                                    if case .subscribed = $0 { true } else { false }
                                }
                                // Half of them take their leave.
                                if number.isMultiple(of: 2) { try await central.unsubscribe(from: value) }
                                central.disconnect()
                                _ = await events.first {
                                    if case .disconnected = $0 { true } else { false }
                                }
                            }
                        }
                        try await visit(10)
                        let (files, subscriptions) = (openFiles(), session.subscriptions.count)
                        try await visit(990)
                        // The runtime may open a few.
                        try #require(openFiles() < files + 5)
                        try #require(session.subscriptions.count == subscriptions)
                        try #require(subscriptions == 0)
                    }
                }
            }
        }
    }

    @Test func manyRequestsAtOnce() async throws {
        let values = (0..<10).map { number in
            Characteristic<UInt8>(0x2A19, .read) {
                Read {
                    await Task.yield()
                    return UInt8(number)
                }
            }
        }
        let peripheral = Peripheral("Crowd") { GATTService(.battery) { values } }
        let configuration = EmulatedBlueZ.Configuration(
            adapters: [EmulatedAdapter(kind: .legacy)],
            clock: ManualClock()
        )
        try await withEmulatedBlueZ(configuration) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent, clock: ManualClock()) { _ in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<20 {
                        group.addTask {
                            let central = bluez.central(for: peripheral, clock: ManualClock())
                            try await central.connect()
                            for _ in 0..<5 {
                                for (number, value) in values.enumerated() {
                                    #expect(try await central.read(value) == UInt8(number))
                                }
                            }
                            central.disconnect()
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}

private func openFiles() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return .max }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
