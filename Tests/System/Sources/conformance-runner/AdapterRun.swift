import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Has a peripheral on the second of two adapters, while either comes and goes.
///
/// The numbers that Linux gives to adapters are of no account: after both were unplugged, the second may be
/// hci0.
struct AdapterRun {
    private static let value = Characteristic<UInt32>(0x2A56, [.read, .write, .notify]) {
        Read { 42 }
        Write { _, _ in }
    }
    private static let peripheral = Peripheral("Second") {
        GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { value }
    }

    /// An event of the adapters, and whether the peripheral must be on the air afterwards.
    private struct Step {
        var name: String
        var orders: [String]
        var isOnTheAir: Bool
    }

    private static let steps = [
        Step(name: "the other adapter is unplugged", orders: ["unplug"], isOnTheAir: true),
        Step(name: "the other adapter is back", orders: ["plug"], isOnTheAir: true),
        Step(name: "its own adapter is unplugged", orders: ["unplug second"], isOnTheAir: false),
        Step(name: "its own adapter is back", orders: ["plug second"], isOnTheAir: true),
        Step(name: "both are unplugged", orders: ["unplug", "unplug second"], isOnTheAir: false),
        Step(name: "only its own is back, with the first number", orders: ["plug second"], isOnTheAir: true),
        Step(name: "the other is back, with the second number", orders: ["plug"], isOnTheAir: true),
        Step(name: "the other is unplugged once more", orders: ["unplug"], isOnTheAir: true),
        Step(name: "bluetoothd is started again meanwhile", orders: ["stop-bluetoothd"], isOnTheAir: false),
        Step(name: "bluetoothd is there again", orders: ["start-bluetoothd"], isOnTheAir: true),
    ]

    let first: DeviceAddress
    let adapter: DeviceAddress

    /// Runs all steps, and exits with the result.
    ///
    /// The result is success if the peripheral was on its adapter whenever a step demands it. Returns `false`
    /// if the steps could not run.
    func run(_ program: String) async throws -> Bool {
        await Rig.order(["plug second", "wait-ready"])
        try await CentralPool.run(program) { pool in
            var failures = 0
            do {
                let pairing = PairingOnAdapters(adapters: [first, adapter])
                try await within(.seconds(60)) { try await pairing.run(from: pool) }
                print("ok    each of two adapters pairs as its peripheral decides")
            } catch {
                failures = 1
                print("FAIL  each of two adapters pairs as its peripheral decides: \(error)")
            }
            do {
                try await within(.seconds(60)) { try await listenOnBoth(pool) }
                print("ok    each of two adapters has a listener with the same PSM")
            } catch {
                failures += 1
                print("FAIL  each of two adapters has a listener with the same PSM: \(error)")
            }
            fflush(nil)
            try await Self.peripheral.run(on: .bluez(adapter: .address(adapter))) { [failures] session in
                var failed = failures
                do {
                    let central = BumbleCentral(of: Self.peripheral, on: adapter, from: pool)
                    try await within(.seconds(30)) { try await Self.use(central, session) }
                    for step in Self.steps {
                        do {
                            try await within(.seconds(45)) {
                                try await Self.take(step, with: central, session)
                            }
                            print("ok    \(step.name)")
                        } catch {
                            failed += 1
                            print("FAIL  \(step.name): \(error); \(session.state)")
                        }
                        fflush(nil)
                    }
                } catch {
                    failed += 1
                    print("FAIL  the peripheral on the second adapter: \(error); \(session.state)")
                }
                print("\(Self.steps.count + 1 - failed) passed, \(failed) failed")
                fflush(nil)
                exit(failed == 0 ? 0 : 1)
            }
        }
        return false
    }

    private static func take(
        _ step: Step,
        with central: BumbleCentral,
        _ session: PeripheralSession
    ) async throws {
        let wasOnTheAir = session.state.isOnTheAir
        await Rig.order(step.orders)
        guard step.isOnTheAir else {
            for await state in peripheral.states where !state.isOnTheAir { break }
            try? await central.disconnect()
            return
        }
        for await state in peripheral.states where state.isOnTheAir { break }
        if wasOnTheAir {
            // What happens to the other adapter is nothing to the connection.
            try await exchange(central, session)
        }
        try? await central.disconnect()
        try await use(central, session)
    }

    /// Has a central open a channel to each of two peripherals with the same fixed PSM.
    private func listenOnBoth(_ pool: CentralPool) async throws {
        func listener(_ answer: UInt8) -> L2CAPListener {
            L2CAPListener(psm: .fixed(0xB0)) { channel in try await channel.send([answer]) }
        }
        let listeners = [listener(1), listener(2)]
        let peripherals = listeners.map { listener in
            Peripheral("Listener") {
                GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { listener.psm }
                listener
            }
        }
        let (first, adapter) = (first, adapter)
        try await peripherals[0].run(on: .bluez(adapter: .address(first), recovery: .never)) { _ in
            try await peripherals[1].run(on: .bluez(adapter: .address(adapter), recovery: .never)) { _ in
                for (number, adapter) in [first, adapter].enumerated() {
                    let central = BumbleCentral(of: peripherals[number], on: adapter, from: pool)
                    try await central.connect()
                    let psm = try await central.read(listeners[number].psm)
                    let packet = try await central.openChannel(psm: psm).receive()
                    guard psm == 0xB0, packet == [UInt8(number + 1)] else {
                        throw Problem("PSM \(psm), packet \(packet ?? [])")
                    }
                    try await central.disconnect()
                }
            }
        }
    }

    private static func use(_ central: BumbleCentral, _ session: PeripheralSession) async throws {
        var events = session.events.makeAsyncIterator()
        try await central.connect()
        try await central.subscribe(to: value)
        while try session.subscribers(of: value).isEmpty { _ = try await events.next() }
        try await exchange(central, session)
    }

    private static func exchange(_ central: BumbleCentral, _ session: PeripheralSession) async throws {
        guard try await central.read(value) == 42 else { throw Problem("another value") }
        try await central.write(value, 7)
        try await session.notify(value, 43)
        guard try await central.nextUpdate(of: value) == 43 else { throw Problem("another update") }
        guard session.centrals.count == 1 else { throw Problem("\(session.centrals.count) centrals") }
    }
}
