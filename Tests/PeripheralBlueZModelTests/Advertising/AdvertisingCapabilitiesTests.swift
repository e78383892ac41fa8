import PeripheralBlueZModel
import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AdvertisingCapabilitiesTests {
    @Test func presetsDifferInWhatTheAdapterHas() {
        #expect(AdvertisingCapabilities.legacy("5.66").version == "5.66")
        #expect(AdvertisingCapabilities.legacy.maximumAdvertisingDataLength == 31)
        #expect(AdvertisingCapabilities.legacy.secondaryChannels == [])
        #expect(AdvertisingCapabilities.extended.maximumScanResponseLength == 251)
        #expect(AdvertisingCapabilities.extended.secondaryChannels == [.oneM, .twoM, .coded])
    }
}
