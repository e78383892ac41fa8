import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// The advertisement that is derived from services that come and go.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisedServicesTests {
    /// bluetoothd changes the registered advertisement, so there is no moment without it.
    @Test(
        arguments: [.v5_66, .v5_82, .v5_87] as [BlueZVersion],
        [EmulatedAdapter.Kind.legacy, .extended]
    )
    func theAdvertisementChangesWhereItIs(version: BlueZVersion, kind: EmulatedAdapter.Kind) async throws {
        func service(_ uuid: BluetoothUUID) -> GATTService {
            GATTService(uuid) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        let base = service(0x180F)
        let short = [service(0xC200), service(0xC201)]
        let long = [
            service("c0f00001-7e3c-4b6e-9d29-b3f1c0a1d001"),
            service("c0f00002-7e3c-4b6e-9d29-b3f1c0a1d001"),
        ]
        let gateway = Peripheral("Gateway") { base }
        try await withEmulatedBlueZ(.init(version: version, adapters: [EmulatedAdapter(kind: kind)])) {
            bluez in
            let observer = bluez.central(for: gateway)
            @Sendable func expectAdvertised(_ services: GATTService...) async throws {
                let expected = Set(services.map(\.uuid))
                try await until { observer.scan().map { Set($0.payload.services) } == [expected] }
            }
            try await gateway.run(on: bluez.backend, logger: .silent) { session in
                try await BusObserver.run(on: bluez) { bus in
                    try await session.add { short[0] }
                    try await expectAdvertised(base, short[0])
                    try await session.add { long[0] }
                    try await expectAdvertised(base, short[0], long[0])
                    // There is no room for another one, until the first is removed.
                    try await session.add { long[1] }
                    try await expectAdvertised(base, short[0], long[0])
                    try await session.remove(long[0])
                    try await expectAdvertised(base, short[0], long[1])
                    try await session.replace(short[0]) { short[1] }
                    try await expectAdvertised(base, short[1], long[1])
                    try await session.remove(base, short[1], long[1])
                    try await expectAdvertised()
                    try await session.add { base }
                    try await expectAdvertised(base)
                    // This is the first registration since the beginning.
                    try await session.advertise(Advertisement(), Advertisement(localName: "Second"))
                    #expect(try await bus.advertisementCounts(upTo: 2) == [2])
                }
            }
        }
    }
}
