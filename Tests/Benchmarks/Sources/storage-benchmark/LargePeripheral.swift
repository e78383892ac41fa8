import PeripheralBlueZ
import PeripheralKit

/// A running peripheral with 2,000 characteristics and 50 subscribers, on a stack that does nothing.
struct LargePeripheral {
    private static let identifier = "large peripheral"

    let store: StateDirectory
    private let counter = Characteristic<UInt32>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
        PersistentValue(initially: 0)
    }

    private var peripheral: Peripheral {
        Peripheral("Large", restorationIdentifier: Self.identifier) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { counter }
            for _ in 0..<50 {
                GATTService("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001") {
                    for _ in 0..<40 {
                        Characteristic<[UInt8]>("5c3a0004-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .notify]) {
                            PersistentValue(initially: [0, 1, 2, 3, 4, 5, 6, 7])
                            UserDescription("one of many")
                        }
                    }
                }
            }
        }
    }

    /// How long it takes to preserve all of it after each change.
    func saves(_ rounds: Int) async throws -> [Duration] {
        try await peripheral.run(on: IdleBackend(), restoringFrom: store, savingEvery: .zero) { session in
            var durations: [Duration] = []
            for round in 0..<rounds {
                try await session.set(counter, to: UInt32(round) + 1)
                durations.append(try await ContinuousClock().measure { try await session.preserve() })
            }
            return durations
        }
    }

    /// How long it takes to open the record, and to read and examine what is there.
    func restores(_ rounds: Int) async throws -> [Duration] {
        var durations: [Duration] = []
        for _ in 0..<rounds {
            durations.append(
                try await ContinuousClock().measure {
                    let found = try await PreservedPeripheral(Self.identifier, in: store)
                    precondition(found?.services.count == 51)
                }
            )
        }
        return durations
    }
}

/// A stack on which 50 bonded centrals subscribe, and nothing else happens.
private struct IdleBackend: PeripheralBackend {
    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        let link = IdleLink()
        host.handle(.published(PublishedPeripheral(link: link)))
        let values = publication.table.attributes.filter { attribute in
            guard case .characteristicValue = attribute.kind else { return false }
            return publication.table.characteristic(of: attribute.kind)?.properties.contains(.notify) ?? false
        }
        for (number, attribute) in values.prefix(50).enumerated() {
            guard let address = DeviceAddress(rawValue: UInt64(number)) else { continue }
            let central = Central(address: address, isBonded: true)
            host.handle(.connected(central))
            host.handle(
                .subscribed(BackendSubscription(characteristic: attribute.handle, central: central))
            )
        }
        for await _ in link.stopped {}
    }
}

private struct IdleLink: BackendLink {
    let stopped: AsyncStream<Never>
    private let stopping: AsyncStream<Never>.Continuation

    init() {
        (stopped, stopping) = AsyncStream.makeStream()
    }

    func submit(_ update: BackendUpdate) {}
    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() { stopping.finish() }
}
