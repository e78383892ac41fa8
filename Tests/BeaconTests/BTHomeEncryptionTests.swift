import PeripheralKit
import Testing

@testable import PeripheralBTHome

@Suite(.timeLimit(.minutes(1)))
struct BTHomeEncryptionTests {
    private let key: BTHomeKey
    private let address: DeviceAddress

    init() throws {
        key = try #require(BTHomeKey("231d39c1d7cc1ab1aee224cd096db932"))
        address = try #require(DeviceAddress("54:48:E6:8F:80:A5"))
    }

    private func encryption(from counter: UInt32) -> BTHomeEncryption {
        BTHomeEncryption(key: key, address: address, firstCounter: counter) { _ in }
    }

    /// The example of https://bthome.io/encryption.
    @Test func encryptsTheExampleOfTheSpecification() throws {
        let advertisement = try Advertisement.bthome(
            [.temperature(25.06), .humidity(50.55)],
            encryption: encryption(from: 0x3322_1100)
        )
        #expect(advertisement.serviceData == [0xFCD2: bytes("41 A47266C95F73 00112233 78237214")])
    }

    @Test func eachPacketHasANewCounter() throws {
        let encryption = encryption(from: 0xFE)
        let counters = try (0..<4).map { _ in try counter(of: .bthome([.battery(1)], encryption: encryption))
        }
        #expect(counters == [0xFE, 0xFF, 0x100, 0x101])
    }

    /// An impossible value uses no counter.
    @Test func anErrorUsesNoCounter() throws {
        let encryption = encryption(from: 5)
        #expect(throws: BTHomeError.self) {
            try Advertisement.bthome([.battery(-1)], encryption: encryption)
        }
        #expect(counter(of: try .bthome([.battery(1)], encryption: encryption)) == 5)
    }

    private func counter(of advertisement: Advertisement) -> UInt32 {
        (advertisement.serviceData[0xFCD2] ?? []).dropLast(4).suffix(4).reversed()
            .reduce(0) { $0 << 8 | UInt32($1) }
    }
}
