import PeripheralCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AdvertisingDataTests {
    @Test func structuresFollowOneAnother() throws {
        let data = AdvertisingData([
            try #require(AdvertisingStructure(.flags, [0x06])),
            try #require(AdvertisingStructure(.services16, [0x0D, 0x18])),
            try #require(AdvertisingStructure(.init(rawValue: 0x99), [])),
        ])
        #expect(data.bytes == [2, 0x01, 0x06, 3, 0x03, 0x0D, 0x18, 1, 0x99])
        #expect(data.byteCount == data.bytes.count)
        #expect(AdvertisingData(decoding: data.bytes) == data)
        #expect(data[.services16] == [0x0D, 0x18])
        #expect(data[.appearance] == nil)
    }

    @Test(
        arguments: [
            ([], 0), ([0], 0), ([0, 2, 0x01, 0x06], 0), ([2, 0x01, 0x06, 0, 0, 0], 1),
            ([2, 0x01, 0x06, 0, 1, 0x09], 1),
            ([2, 0x01, 0x06, 5, 0x09, 0x41], 1), ([2, 0x01, 0x06, 255], 1), ([255], 0), ([1], 0),
            ([1, 0x09], 1),
            ([2, 0x01, 0x06, 2, 0x01, 0x04], 2),
        ] as [([UInt8], Int)]
    )
    func dataEndsAtALengthThatCannotBe(bytes: [UInt8], count: Int) {
        #expect(AdvertisingData(decoding: bytes).structures.count == count)
    }

    @Test func aStructureHasALengthOfOneByte() throws {
        let longest = try #require(AdvertisingStructure(.manufacturerData, [UInt8](repeating: 7, count: 254)))
        #expect(longest.byteCount == 256)
        #expect(AdvertisingData(decoding: AdvertisingData([longest]).bytes).structures == [longest])
        #expect(AdvertisingStructure(.manufacturerData, [UInt8](repeating: 7, count: 255)) == nil)
    }

    @Test(arguments: [21, 22] as [UInt64])
    func anyBytesAreTakenAsFarAsTheyGo(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var structureCount = 0
        for _ in 0..<fuzzInputCount {
            let input = generator.plausibleBytes(count: Int.random(in: 0...62, using: &generator))
            let data = AdvertisingData(decoding: input)
            structureCount += data.structures.count
            if !input.starts(with: data.bytes) || AdvertisingData(decoding: data.bytes) != data {
                Issue.record("\(input), seed \(seed), becomes \(data.bytes)")
            }
        }
        #expect(structureCount > 0)
    }
}
