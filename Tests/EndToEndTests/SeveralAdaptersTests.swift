import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// One program with a peripheral on each of its adapters.
@Suite(.timeLimit(.minutes(1)))
struct SeveralAdaptersTests {
    private static let first = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }
    private static let second = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 2 } }

    @Test func aCentralNearAnUnknownAdapterNamesTheAdapters() async throws {
        try await withEmulatedBlueZ(.init(adapters: ["hci0", "hci1"])) { bluez in
            let central = bluez.central(for: Peripheral("Lamp") {}, near: "hci9")
            let error = await #expect(throws: TestCentralError.self) { try await central.connect() }
            #expect(
                error?.message
                    == "The emulated machine has no adapter hci9. Its adapters are: hci0, hci1."
            )
        }
    }

    /// What happens to one adapter is nothing to the other.
    @Test func oneIsUnpluggedWhileTheOtherServesOn() async throws {
        let unplugged = Peripheral("Unplugged") { GATTService(.battery) { Self.first } }
        let steady = Peripheral("Steady") { GATTService(.battery) { Self.second } }
        try await withEmulatedBlueZ(.init(adapters: ["hci0", "hci1"])) { bluez in
            try await unplugged.run(on: bluez.backend(adapter: "hci0"), logger: .silent) { one in
                try await steady.run(on: bluez.backend(adapter: "hci1"), logger: .silent) { other in
                    #expect(bluez.central(for: unplugged, near: "hci0").names == ["Unplugged"])
                    #expect(bluez.central(for: steady, near: "hci1").names == ["Steady"])
                    let central = bluez.central(for: steady, near: "hci1")
                    try await central.connect()
                    try await central.subscribe(to: Self.second)
                    try await until { (try? other.subscribers(of: Self.second).isEmpty) == false }
                    for round in 0..<5 as Range<UInt8> {
                        let lost = bluez.central(for: unplugged, near: "hci0")
                        try await lost.connect()
                        #expect(try await lost.read(Self.first) == 1)
                        await bluez.removeAdapter("hci0")
                        try await until { one.state.radio == .unsupported && one.centrals.isEmpty }
                        #expect(other.state.isOnTheAir)
                        #expect(other.centrals.count == 1)
                        try await other.notify(Self.second, round)
                        #expect(try await central.nextUpdate(of: Self.second) == round)
                        #expect(try await central.read(Self.second) == 2)
                        try await bluez.addAdapter("hci0")
                        try await until { one.state.isOnTheAir }
                        #expect(bluez.central(for: unplugged, near: "hci0").names == ["Unplugged"])
                        #expect(try await central.read(Self.second) == 2)
                    }
                }
            }
            for name in ["hci0", "hci1"] {
                #expect(bluez.central(for: steady, near: name).names.isEmpty)
            }
        }
    }
}

extension VirtualCentral {
    /// The names on the air.
    fileprivate var names: [String?] { scan().map(\.payload.localName) }
}
