import PeripheralCore
import PeripheralDBus
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

/// The capabilities that the advertising managers of real adapters report.
@Suite(.timeLimit(.minutes(1)))
struct AdvertisingCapabilitiesTests {
    private static let adapter = BusValue.properties([
        "Class": .uint32(0), "Discoverable": .bool(false), "Alias": .string("Rig"),
    ])

    @Test func oldVersionOnExtendedAdapter() {
        let manager = BusValue.properties([
            "ActiveInstances": .byte(1), "SupportedInstances": .byte(4),
            "SupportedIncludes": .strings(["tx-power", "appearance", "local-name"]),
            "SupportedSecondaryChannels": .strings(["1M", "2M", "Coded"]),
        ])
        var expected = AdvertisingCapabilities.extended("5.66")
        expected.activeInstances = 1
        expected.freeInstances = 4
        expected.adapterName = "Rig"
        #expect(
            AdvertisingCapabilities(ofManager: manager, adapter: Self.adapter, version: "5.66") == expected
        )
    }

    @Test func newVersionOnLegacyAdapter() {
        let manager = BusValue.properties([
            "ActiveInstances": .byte(0), "SupportedInstances": .byte(5),
            "SupportedIncludes": .strings(["tx-power", "appearance", "local-name", "rsi", "news"]),
            "SupportedFeatures": .strings([]),
            "SupportedCapabilities": .variant(
                .properties([
                    "MinTxPower": .int16(-20), "MaxTxPower": .int16(8), "MaxAdvLen": .byte(31),
                    "MaxScnRspLen": .byte(31),
                ])
            ),
        ])
        let adapter = BusValue.properties(["Class": .uint32(0x6C010C), "Discoverable": .bool(true)])
        var expected = AdvertisingCapabilities.legacy("5.87")
        expected.includes.insert(.resolvableSetIdentifier)
        expected.transmitPowers = .dBm(-20) ... .dBm(8)
        expected.usesClassic = true
        expected.isAdapterDiscoverable = true
        #expect(AdvertisingCapabilities(ofManager: manager, adapter: adapter, version: "5.87") == expected)
    }

    @Test func capabilitiesOfAnOldVersionAreExperimental() {
        let manager = BusValue.properties(["SupportedCapabilities": .properties(["MaxAdvLen": .byte(251)])])
        let found = AdvertisingCapabilities(ofManager: manager, adapter: Self.adapter, version: "5.66")
        #expect(found.isExperimental)
        #expect(found.maximumAdvertisingDataLength == 251)
    }

    @Test(
        arguments: [
            .properties([]), .string("nonsense"),
            .properties([
                "SupportedCapabilities": .properties(["MinTxPower": .int16(4), "MaxTxPower": .int16(-4)]),
                "SupportedInstances": .string("many"),
            ]),
        ] as [BusValue]
    )
    func nonsenseIsPassedOver(manager: BusValue) {
        let found = AdvertisingCapabilities(ofManager: manager, adapter: .byte(1), version: "5.82")
        #expect(!found.isExtended)
        #expect(found.maximumAdvertisingDataLength == 31)
        #expect(found.transmitPowers == nil)
        #expect(found.freeInstances == 0)
    }

    private static func refusal(
        _ message: String,
        of advertisement: Advertisement = Advertisement(localName: "Lamp"),
        isPowered: Bool = true
    ) -> String {
        RegistrationStateMachine.Failure(
            refusedAdvertisement: .remote(name: "org.bluez.Error.Failed", message: message),
            advertisement.plan(for: .extended("5.66")),
            isPowered: isPowered
        ).message
    }

    @Test func refusalsAreToldWithTheLikelyReason() {
        let register = "Failed to register advertisement"
        let said = "bluetoothd refused the advertisement (org.bluez.Error.Failed: \(register)). Reason: "
        #expect(
            Self.refusal(register)
                == said
                + "the advertisement uses 3 of 31 bytes, and 6 of 31 in the scan response. The kernel or the controller "
                + "refuses it. See bluetoothd's log for the reason."
        )
        #expect(
            Self.refusal(register, isPowered: false)
                == said + "the adapter is powered off: power it on with 'bluetoothctl power on'."
        )
        #expect(
            Self.refusal(register, of: Advertisement(manufacturerData: [1: [UInt8](repeating: 0, count: 40)]))
                == said
                + "likely because of this issue: manufacturer data 0x0001 of the advertisement: it ends at byte 44, "
                + "but there is room for only 31; leave something out, or shorten it."
        )
        #expect(
            Self.refusal("Failed to parse advertisement.")
                == "bluetoothd refused the advertisement (org.bluez.Error.Failed: Failed to parse advertisement.). Reason: "
                + "bluetoothd does not accept a property. The log of bluetoothd names the property."
        )
    }
}
