import Glibc
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What takes long, and is alone in its process: `make soak`.
@Suite(.serialized, .enabled(if: getenv("PERIPHERAL_SOAK") != nil))
struct SoakTests {
    /// However often bluetoothd starts again, the process has no more than after a tenth of the times.
    @Test(.timeLimit(.minutes(10))) func aThousandRestartsLeaveNothing() async throws {
        let restarts = getenv("PERIPHERAL_RESTARTS").flatMap { Int(String(cString: $0)) } ?? 1000
        let warmUp = max(restarts / 10, 10)
        let value = Characteristic<UInt8>(0x2A19, value: 99)
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        // With another clock than the continuous one, each time limit of the daemon would be a `Task.sleep`.
        // A cancelled sleep keeps its memory until its deadline: 5 KB in each round, for up to two minutes.
        try await PeripheralEmulator.withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                var states = peripheral.states.makeAsyncIterator()
                var early = Usage(descriptors: 0, kilobytes: 0)
                for round in 1...restarts {
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    #expect(try await central.read(value) == 99)
                    await bluez.killDaemon()
                    while try await states.next()?.isOnTheAir == true {}
                    try await bluez.startDaemon()
                    while try await states.next()?.isOnTheAir == false {}
                    if round == warmUp { early = Usage.now }
                }
                let late = Usage.now
                print("after \(warmUp): \(early), after \(restarts): \(late)")
                // Once, after about 17 s, a library opens a descriptor.
                #expect(late.descriptors <= early.descriptors + 1)
                // A leak of 2 KB in each would be as much.
                #expect(late.kilobytes - early.kilobytes < 2000)
            }
        }
    }

    /// Services that come and go a thousand times leave no memory, and no handle from 0x0400 on.
    ///
    /// The emulated bluetoothd is in the same process, so its memory counts as well.
    @Test(.timeLimit(.minutes(10)), arguments: [BlueZVersion.v5_66, .v5_87])
    func aThousandChangesOfServicesLeaveNothing(version: BlueZVersion) async throws {
        let (warmUp, changes) = (200, 1_200)
        let base = Characteristic<UInt8>(0x2A19, value: 99)
        let gateway = Peripheral("Gateway", reservedHandles: 256) { GATTService(.battery) { base } }
        let services = (0..<40).map { number in
            GATTService(BluetoothUUID(0xC000 + UInt16(number))) {
                (0...number % 12).map { _ in Characteristic<UInt8>(0x2A6E, [.read, .notify]) { Read { 7 } } }
            }
        }
        try await PeripheralEmulator.withEmulatedBlueZ(EmulatedBlueZ.Configuration(version: version)) {
            bluez in
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                var random = SeededGenerator(seed: 1)
                var present: Set<Int> = []
                var early = Usage(descriptors: 0, kilobytes: 0)
                let central = bluez.central(for: gateway)
                try await central.connect()
                for change in 1...changes {
                    let number = Int.random(in: services.indices, using: &random)
                    if present.remove(number) != nil {
                        try await session.remove(services[number])
                    } else {
                        present.insert(number)
                        try await session.add { services[number] }
                    }
                    if change == warmUp { early = Usage.now }
                    guard change % 100 == 0 else { continue }
                    let found = try await central.discover().applicationServices
                    #expect(Set(found.map(\.uuid)) == Set(present.map { services[$0].uuid } + [.battery]))
                    #expect(found.allSatisfy { $0.handles.upperBound < 0x0400 })
                }
                let late = Usage.now
                print("after \(warmUp) changes: \(early), after \(changes): \(late)")
                #expect(late.kilobytes - early.kilobytes < 1024)
            }
        }
    }

    /// A program that runs a peripheral again and again, and ends each run as its central leaves, keeps
    /// nothing of them.
    ///
    /// The program is a process of its own, so that nothing but its own memory and descriptors count. On a
    /// busy machine, 10,000 runs take half an hour.
    @Test(.timeLimit(.minutes(60))) func manyRunsLeaveNothing() async throws {
        let runs = getenv("PERIPHERAL_RUNS").map { String(cString: $0) } ?? "500"
        let level = Characteristic<UInt8>(.batteryLevel, .read) { Read { 0 } }
        let twin = Peripheral("Threads") { GATTService("00002b00-7e3c-4b6e-9d29-b3f1c0a1d001") { level } }
        // malloc keeps up to seven freed blocks of each size for a thread. These caches fill up over many
        // runs, and count as in use.
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1)
        defer { unsetenv("GLIBC_TUNABLES") }
        try await withEmulatedBlueZ { bluez in
            let process = try HelperProcess("one-thread-test-helper", "runs", bluez.busAddress, runs)
            while process.isRunning {
                let central = bluez.central(for: twin)
                // A run may end before the central gets there. What is read comes from the program.
                try? await central.connect()
                _ = try? await central.read(level)
                central.disconnect()
            }
            #expect(process.exitStatus() == 0)
        }
    }

    /// However often the program is killed, it goes on from a state that was true.
    @Test(.timeLimit(.minutes(10)), arguments: [BlueZVersion.v5_66, .v5_87])
    func fiveHundredKills(version: BlueZVersion) async throws {
        let seed = getenv("PERIPHERAL_SEED").flatMap { UInt64(String(cString: $0)) }
        try await kill(rounds: 250, on: version, seed: seed ?? .random(in: 0...9999))
    }
}
