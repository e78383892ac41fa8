import PeripheralCurrentTime
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// 2026-11-22 was a Sunday.
private func sunday(reason: CurrentTime.AdjustReason = []) throws -> CurrentTime {
    let date = try #require(DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3))
    return CurrentTime(date, dayOfWeek: .sunday, fractions256: 128, adjustReason: reason)
}

@Suite(.timeLimit(.minutes(1)))
struct CurrentTimeTests {
    /// Current Time Service 1.1, section 3.1: Exact Time 256, then the reasons.
    @Test func isTenBytes() throws {
        let bytes: [UInt8] = [0xEA, 0x07, 11, 22, 1, 2, 3, 7, 0x80, 0x0F]
        let time = try sunday(reason: [.manualUpdate, .externalReference, .timeZone, .daylightSavingTime])
        #expect(time.gattBytes == bytes)
        #expect(try CurrentTime(gattBytes: bytes) == time)
    }

    @Test(
        arguments: [
            [], [0xEA, 0x07, 11, 22, 1, 2, 3, 7, 0x80], [0xEA, 0x07, 11, 22, 1, 2, 3, 8, 0x80, 0],
            [0xEA, 0x07, 11, 31, 1, 2, 3, 7, 0x80, 0], [0xEA, 0x07, 11, 22, 1, 2, 3, 7, 0x80, 0, 0],
        ] as [[UInt8]]
    )
    func refuses(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try CurrentTime(gattBytes: bytes) }
    }

    @Test(
        arguments: [
            (.zero, .zero, [0xB2, 0x07, 1, 1, 0, 0, 0, 4, 0, 0]),
            (.milliseconds(-500), .zero, [0xB1, 0x07, 12, 31, 23, 59, 59, 3, 128, 0]),
            (.seconds(951_782_399), .zero, [0xD0, 0x07, 2, 28, 23, 59, 59, 1, 0, 0]),
            (.seconds(951_782_400), .zero, [0xD0, 0x07, 2, 29, 0, 0, 0, 2, 0, 0]),
            (.seconds(1_795_309_323), .seconds(3600), [0xEA, 0x07, 11, 22, 2, 2, 3, 7, 0, 0]),
            (.seconds(-12_244_089_600), .zero, [0x2E, 0x06, 1, 1, 0, 0, 0, 5, 0, 0]),
            (.seconds(253_402_300_799), .zero, [0x0F, 0x27, 12, 31, 23, 59, 59, 5, 0, 0]),
        ] as [(Duration, Duration, [UInt8])]
    )
    func countsFrom1970(duration: Duration, offset: Duration, bytes: [UInt8]) throws {
        let time = try #require(CurrentTime(since1970: duration, offsetFromUTC: offset))
        #expect(time.gattBytes == bytes)
    }

    @Test(
        arguments: [
            Int64.min, Int64.min / 2, -12_244_089_601, 253_402_300_800, Int64.max / 2, Int64.max,
        ]
    )
    func knowsNoTimeBeyondTheCalendar(seconds: Int64) {
        #expect(CurrentTime(since1970: .seconds(seconds)) == nil)
        #expect(CurrentTime(since1970: .zero, offsetFromUTC: .seconds(seconds)) == nil)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(CurrentTime.self, seed: seed, count: 8...12)
        try fuzz(LocalTimeInformation.self, seed: seed, count: 0...3)
        try fuzz(ReferenceTimeInformation.self, seed: seed, count: 2...5)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct TimeInformationTests {
    @Test(
        arguments: [
            (LocalTimeInformation(quarterHoursFromUTC: 4, daylightSavingTime: .hour), [4, 4]),
            (LocalTimeInformation(quarterHoursFromUTC: -48, daylightSavingTime: .standardTime), [0xD0, 0]),
            (LocalTimeInformation(quarterHoursFromUTC: 56, daylightSavingTime: .twoHours), [56, 8]),
            (LocalTimeInformation(quarterHoursFromUTC: 42, daylightSavingTime: .halfAnHour), [42, 2]),
            (LocalTimeInformation(quarterHoursFromUTC: nil), [0x80, 0xFF]),
        ] as [(LocalTimeInformation, [UInt8])]
    )
    func tellsTheTimeZone(information: LocalTimeInformation, bytes: [UInt8]) throws {
        #expect(information.gattBytes == bytes)
        #expect(try LocalTimeInformation(gattBytes: bytes) == information)
    }

    @Test(arguments: [[57, 0], [0xCF, 0], [0, 1], [0, 254], [0]] as [[UInt8]])
    func refusesTimeZones(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try LocalTimeInformation(gattBytes: bytes) }
    }

    @Test(arguments: [(-100, -48), (100, 56)])
    func clampsTimeZones(given: Int, kept: Int) {
        #expect(LocalTimeInformation(quarterHoursFromUTC: given).quarterHoursFromUTC == kept)
    }

    @Test(
        arguments: [
            (
                ReferenceTimeInformation(
                    .networkTimeProtocol,
                    accuracy: .eighthsOfSecond(8),
                    hoursSinceUpdate: 25
                ), [1, 8, 1, 1]
            ),
            (ReferenceTimeInformation(.gps, accuracy: .outOfRange, hoursSinceUpdate: 0), [2, 254, 0, 0]),
            (ReferenceTimeInformation(.unknown, hoursSinceUpdate: 6119), [0, 255, 254, 23]),
            (ReferenceTimeInformation(.notSynchronized, hoursSinceUpdate: 6120), [7, 255, 255, 255]),
            (ReferenceTimeInformation(.manual, hoursSinceUpdate: Int.max), [4, 255, 255, 255]),
        ] as [(ReferenceTimeInformation, [UInt8])]
    )
    func tellsTheReference(information: ReferenceTimeInformation, bytes: [UInt8]) throws {
        #expect(information.gattBytes == bytes)
        #expect(try ReferenceTimeInformation(gattBytes: bytes) == information)
    }

    @Test(arguments: [[1, 8, 0, 24], [1, 8, 0, 255], [1, 8, 255, 0], [1, 8, 0]] as [[UInt8]])
    func refusesReferences(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try ReferenceTimeInformation(gattBytes: bytes) }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct CurrentTimeServiceTests {
    @Test func declaresOnlyTheTimeByItself() async throws {
        let service = CurrentTimeService { try sunday() }
        try await Peripheral("Clock") { service }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1805, uuid: 0x2A2B, properties: [.read, .notify])
                ]
            )
            await #expect(throws: ATTError.writeNotPermitted) {
                try await central.write(service.currentTime, try sunday())
            }
        }
    }

    @Test func tellsAndTakesTimes() async throws {
        let times = Recorded<CurrentTime>()
        let zones = Recorded<LocalTimeInformation>()
        let service = CurrentTimeService(
            localTime: { LocalTimeInformation(quarterHoursFromUTC: 4) },
            referenceTime: { ReferenceTimeInformation(.gps, hoursSinceUpdate: 3) },
            onSetTime: { time in
                times.append(time)
                if time.fractions256 != 0 { throw ATTError.currentTimeDataFieldIgnored }
            },
            onSetLocalTime: { zones.append($0) },
            now: { try sunday() }
        )
        let localTime = try #require(service.localTime)
        let referenceTime = try #require(service.referenceTime)
        try await Peripheral("Clock") { service }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(
                        service: 0x1805,
                        uuid: 0x2A2B,
                        properties: [.read, .notify, .write]
                    ),
                    DeclaredCharacteristic(service: 0x1805, uuid: 0x2A0F, properties: [.read, .write]),
                    DeclaredCharacteristic(service: 0x1805, uuid: 0x2A14, properties: .read),
                ]
            )
            #expect(try await central.read(service.currentTime) == sunday())
            #expect(try await central.read(localTime).quarterHoursFromUTC == 4)
            #expect(try await central.read(referenceTime).hoursSinceUpdate == 3)
            await #expect(throws: ATTError(rawValue: 0x80)) {
                try await central.write(service.currentTime, try sunday())
            }
            #expect(times.values == [try sunday()])
            try await central.write(localTime, LocalTimeInformation(quarterHoursFromUTC: -20))
            #expect(zones.values == [LocalTimeInformation(quarterHoursFromUTC: -20)])
        }
    }

    @Test func notifiesOfAdjustments() async throws {
        let service = CurrentTimeService { try sunday() }
        try await Peripheral("Clock") { service }.test { central, session in
            try await central.subscribe(to: service.currentTime)
            try await service.notify(.timeZone, in: session)
            #expect(try await central.nextUpdate(of: service.currentTime) == sunday(reason: .timeZone))
        }
    }
}
