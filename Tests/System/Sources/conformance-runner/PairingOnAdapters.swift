import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Has a peripheral on each of two adapters, which decides about the centrals of its own adapter.
///
/// bluetoothd asks the agent that was registered last, for both adapters.
struct PairingOnAdapters {
    private final class Guarded: Sendable {
        let secret = Characteristic<UInt8>(0x2A57, .read, security: .encrypted) { Read { 7 } }
        /// The number of questions about centrals.
        let questions = Atomic(0)
        let mayPair: Bool

        init(mayPair: Bool) {
            self.mayPair = mayPair
        }

        var peripheral: Peripheral {
            let pairing = Pairing.justWorks { [self] _ in
                questions.add(1, ordering: .relaxed)
                return mayPair
            }
            return Peripheral("Guarded", pairing: pairing) {
                GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { secret }
            }
        }
    }

    let adapters: [DeviceAddress]

    /// Pairs a central with the first adapter, and expects a refusal from the second, whose agent is asked.
    func run(from pool: CentralPool) async throws {
        let (open, closed) = (Guarded(mayPair: true), Guarded(mayPair: false))
        let (first, second) = (open.peripheral, closed.peripheral)
        try await first.run(on: .bluez(adapter: .address(adapters[0]))) { [adapters] _ in
            try await second.run(on: .bluez(adapter: .address(adapters[1]))) { _ in
                let central = BumbleCentral(of: first, on: adapters[0], from: pool)
                try await central.connect()
                try await central.pair(.justWorks)
                guard try await central.read(open.secret) == 7 else { throw Problem("another value") }
                try await central.disconnect()
                let other = BumbleCentral(of: second, on: adapters[1], from: pool)
                try await other.connect()
                do {
                    try await other.pair(.justWorks)
                    throw Problem("the second adapter has paired")
                } catch is TestCentralError {}
                try await other.disconnect()
            }
        }
        let asked = [open, closed].map { $0.questions.load(ordering: .relaxed) }
        guard asked == [1, 1] else { throw Problem("the peripherals were asked \(asked) times") }
    }
}
