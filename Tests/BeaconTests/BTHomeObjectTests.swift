import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBTHome

@Suite(.timeLimit(.minutes(1)))
struct BTHomeObjectTests {
    /// The examples of https://bthome.io/format.
    @Test(
        arguments: [
            (.battery(97), "0161"), (.carbonDioxide(1250), "12E204"), (.count(96), "0960"),
            (.count(24585), "3D0960"), (.count(1_611_213_866), "3E2A2C0960"), (.count(-22), "59EA"),
            (.count(-5398), "5AEAEA"), (.count(-365_690_134), "5BEA0234EA"), (.current(13.39), "434E34"),
            (.current(-5.63), "5D02EA"), (.dewPoint(17.38), "08CA06"), (.millimeters(12), "400C00"),
            (.meters(7.8), "414E00"), (.duration(13.39), "424E3400"), (.energy(344_593.17), "4D12138A14"),
            (.energy(1346.067), "0A138A14"), (.gas(1346.067), "4B138A14"), (.gas(25821.505), "4C41018A01"),
            (.humidity(50.55), "03BF13"), (.humidity(35, objectID: 0x2E), "2E23"),
            (.illuminance(13460.67), "05138A14"), (.kilograms(80.3), "065E1F"), (.pounds(74.86), "073E1D"),
            (.moisture(30.74), "14020C"), (.moisture(35, objectID: 0x2F), "2F23"), (.pm2_5(3090), "0D120C"),
            (.pm10(7170), "0E021C"), (.power(69.14), "0B021B00"), (.pressure(1008.83), "04138A01"),
            (.rotation(307.4), "3F020C"), (.speed(133.9), "444E34"),
            (.temperature(27.3, objectID: 0x45), "451101"), (.temperature(25.06), "02CA09"),
            (.temperature(-22, objectID: 0x57), "57EA"), (.temperature(-7.7, objectID: 0x58), "58EA"),
            (.volatileOrganicCompounds(307), "133301"), (.voltage(3.074), "0C020C"),
            (.voltage(307.4), "4A020C"), (.volume(19551.879), "4E87562A01"),
            (.volume(2215.1, objectID: 0x47), "478756"), (.milliliters(34780), "48DC87"),
            (.volumeFlowRate(34.78), "49DC87"), (.uvIndex(5), "4632"), (.water(19551.879), "4F87562A01"),
            (.acceleration(22.151), "518756"), (.angularVelocity(22.151), "528756"),
            (.text("Hello World!"), "530C48656C6C6F20576F726C6421"),
            (.raw([0x48, 0x65]), "54024865"), (.timestamp(1_684_093_277), "505D396164"),
            (.conductivity(1000), "56E803"), (.button(.press), "3A01"), (.dimmer(.left(steps: 3)), "3C0103"),
            (.dimmer(.right(steps: 10)), "3C020A"), (.binary(.window, true), "2D01"),
            (.binary(.generic, false), "0F00"), (.deviceType(1), "F00100"),
            (.firmwareVersion(4, 2, 1, 0), "F100010204"), (.firmwareVersion(6, 1, 0), "F2000106"),
            (.packetID(9), "0009"), (.command(.toggle), "3B0002"),
        ] as [(BTHomeObject, String)]
    )
    func hasTheBytesOfTheFormat(object: BTHomeObject, encoded: String) throws {
        #expect(try object.encoded == bytes(encoded))
    }

    /// Another format continues where the first ends.
    @Test(
        arguments: [
            (.temperature(327.67), "02FF7F"), (.temperature(327.68), "45CD0C"), (.power(-0.01), "5CFFFFFFFF"),
            (.speed(-1), "62C0BDF0FF"), (.acceleration(-1), "63C0BDF0FF"), (.voltage(65.54), "4A8F02"),
            (.count(255), "09FF"), (.count(256), "3D0001"), (.count(-129), "5A7FFF"),
        ] as [(BTHomeObject, String)]
    )
    func usesTheFirstFormatThatHoldsTheValue(object: BTHomeObject, encoded: String) throws {
        #expect(try object.encoded == bytes(encoded))
    }

    @Test(
        arguments: [
            (.temperature(4000), "The temperature 4000.0 °C is not possible. Use -3276.8 to 3276.7 °C."),
            (
                .temperature(328, objectID: 0x02),
                "The temperature 328.0 °C is not possible. Use -327.68 to 327.67 °C."
            ),
            (.temperature(.nan), "The temperature nan °C is not possible. Use -3276.8 to 3276.7 °C."),
            (.battery(256), "The battery 256.0 % is not possible. Use 0.0 to 255.0 %."),
            (.humidity(-1), "The humidity -1.0 % is not possible. Use 0.0 to 655.35 %."),
            (
                .count(.max),
                "The count 9.223372036854776e+18 is not possible. Use -2147483648.0 to 4294967295.0."
            ),
            (
                .temperature(1, objectID: 0x03),
                "The object 0x3 is not a temperature. Use 0x2, 0x45, 0x57, 0x58."
            ),
            (.text(""), "The text has 0 bytes. Use 1 to 255 bytes."),
            (.raw([UInt8](repeating: 0, count: 256)), "The raw data has 256 bytes. Use 1 to 255 bytes."),
        ] as [(BTHomeObject, String)]
    )
    func refusesImpossibleValues(object: BTHomeObject, message: String) {
        #expect {
            try object.encoded
        } throws: {
            "\($0)" == message
        }
    }

    /// Each value in the range of the format is sent within half a step.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func roundsToTheNearestStep(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let value = Double.random(in: -327.68...327.67, using: &random)
            let encoded = try BTHomeObject.temperature(value).encoded
            let integer = Int16(truncatingIfNeeded: Int(encoded[1]) | Int(encoded[2]) << 8)
            #expect(encoded.count == 3)
            #expect(abs(Double(integer) / 100 - value) <= 0.005 + 1e-9)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func keepsEachCount(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bits = Int.random(in: 0...32, using: &random)
            let count = Int.random(in: -(1 << max(bits - 1, 0))...(1 << bits) - 1, using: &random)
            let encoded = try BTHomeObject.count(count).encoded
            let isSigned = encoded[0] >= 0x59
            var integer = encoded.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
            if isSigned { integer -= 1 << ((encoded.count - 1) * 8) }
            #expect(integer == count)
            #expect(isSigned == (count < 0))
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BTHomePacketTests {
    /// The example of https://bthome.io/format.
    @Test func containsVersionAndObjects() throws {
        let advertisement = try Advertisement.bthome([.temperature(25.06), .humidity(50.55)])
        #expect(advertisement.serviceData == [0xFCD2: bytes("40 02CA09 03BF13")])
        #expect(advertisement.kind == .connectable)
        #expect(advertisement.services == [])
        #expect(Peripheral("Balcony") { advertisement }.validate() == [])
    }

    @Test func hasTheObjectsInTheOrderOfTheirNumbers() throws {
        let objects: [BTHomeObject] = [
            .button(.none), .temperature(1), .button(.press), .battery(1), .temperature(-1), .packetID(7),
        ]
        #expect(try objects.encoded == bytes("0007 0101 026400 029CFF 3A00 3A01"))
    }

    @Test func refusesToBeEmpty() {
        #expect {
            try Advertisement.bthome([])
        } throws: {
            "\($0)" == "The packet is empty. Pass at least one object."
        }
    }

    @Test func saysThatTheDeviceIsTriggerBased() throws {
        let advertisement = try Advertisement.bthome([.button(.press)], isTriggerBased: true)
        #expect(advertisement.serviceData[0xFCD2] == bytes("44 3A01"))
    }

    @Test func isReplacedWithoutOtherChanges() throws {
        var advertisement = try Advertisement.bthome(
            [.battery(2)],
            localName: "B",
            interval: .every(.seconds(1))
        )
        advertisement.manufacturerData[0xFFFF] = [1]
        var expected = advertisement
        expected.serviceData[0xFCD2] = bytes("40 0103")
        try advertisement.setBTHome([.battery(3)])
        #expect(advertisement == expected)
    }

    @Test func staysAfterAnError() throws {
        var advertisement = try Advertisement.bthome([.battery(2)])
        let before = advertisement
        #expect(throws: BTHomeError.self) { try advertisement.setBTHome([.battery(300)]) }
        #expect(advertisement == before)
    }
}
