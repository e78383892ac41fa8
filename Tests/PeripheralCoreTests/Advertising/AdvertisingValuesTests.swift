import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AdvertisingValuesTests {
    @Test(
        arguments: [
            (.every(.milliseconds(100)), "100 ms"),
            (.between(.milliseconds(100), and: .seconds(1)), "100 to 1000 ms"),
            (.every(.microseconds(20_900)), "20.9 ms"),
            (.every(.microseconds(20_625)), "20.625 ms"),
            (.every(.microseconds(20_060)), "20.06 ms"),
            (.fast, "100 to 152.5 ms"),
            (.slow, "1022.5 ms"),
            (.between(.seconds(Int64.min), and: .seconds(Int64.max)), "\(Int64.min) to \(Int64.max) ms"),
            (.every(.seconds(Int64.max / 1000) + .milliseconds(999)), "\(Int64.max) ms"),
        ] as [(AdvertisingInterval, String)]
    )
    func intervalsAreToldInMilliseconds(interval: AdvertisingInterval, text: String) {
        #expect("\(interval)" == text)
    }

    @Test func powersAreOrdered() {
        #expect(TransmitPower.dBm(-20) < .dBm(4))
        #expect(TransmitPower.limits.contains(.dBm(20)))
        #expect(!TransmitPower.limits.contains(.dBm(21)))
        #expect("\(TransmitPower.dBm(-4))" == "-4 dBm")
    }

    @Test(arguments: ["1M", "2M", "Coded"])
    func channelsHaveNamesOfBlueZ(name: String) {
        #expect(SecondaryChannel(name)?.description == name)
        #expect(SecondaryChannel(name.lowercased() + " ") == nil)
    }

    @Test(arguments: ["tx-power", "appearance", "local-name", "rsi"])
    func includesHaveNamesOfBlueZ(name: String) {
        #expect(AdvertisingInclude(name)?.description == name)
        #expect(AdvertisingInclude(name + "s") == nil)
    }
}
