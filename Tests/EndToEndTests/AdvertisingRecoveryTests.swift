import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What is changed while the peripheral is off the air, or about to be.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisingRecoveryTests {
    private enum Moment: CaseIterable {
        case before, asItHappens, meanwhile, asItIsMended, after
    }

    @Test(arguments: Fault.all) func theLastChangeIsOnTheAirAfterwards(fault: Fault) async throws {
        let lamp = Peripheral("Lamp") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(localName: "Lamp")
            Advertisement(.broadcast, localName: "", services: [], manufacturerData: [0x004C: [0]])
        }
        try await withEmulatedBlueZ { bluez in
            let observer = bluez.central(for: lamp)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                for (number, moment) in Moment.allCases.enumerated() {
                    let (name, data) = ("\(moment)", [UInt8(number)])
                    @Sendable func change(at now: Moment) async throws {
                        guard moment == now else { return }
                        try await session.changeAdvertisement { $0.localName = name }
                        try await session.changeAdvertisement(at: 1) { $0.manufacturerData = [0x004C: data] }
                    }
                    try await change(at: .before)
                    async let first: Void = change(at: .asItHappens)
                    try await fault.happen(bluez)
                    try await first
                    try await until { !session.state.isOnTheAir }
                    try await change(at: .meanwhile)
                    async let second: Void = change(at: .asItIsMended)
                    try await fault.mend(bluez)
                    try await second
                    try await until { session.state.isOnTheAir }
                    try await change(at: .after)
                    try await until {
                        let heard = observer.scan().map(\.payload)
                        return heard.count == 2 && heard.contains { $0.localName == name }
                            && heard.contains { $0.manufacturerData == [0x004C: data] }
                    }
                    #expect(session.advertisements.map(\.localName) == [name, ""])
                    #expect(session.state.isOnTheAir)
                }
            }
        }
    }
}
