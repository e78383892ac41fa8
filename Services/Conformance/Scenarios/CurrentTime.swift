internal import PeripheralConformance
internal import PeripheralCurrentTime
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let currentTime = [currentTimeRead, currentTimeSet]

    private static let currentTimeRead = Scenario(
        "CurrentTime: a central reads the time, and is notified of an adjustment"
    ) {
        let time = CurrentTimeService(
            localTime: { LocalTimeInformation(quarterHoursFromUTC: -14, daylightSavingTime: .hour) },
            referenceTime: { ReferenceTimeInformation(.gps, accuracy: .outOfRange, hoursSinceUpdate: 49) },
            now: { try noon }
        )
        return ScenarioRun(Peripheral("Clock") { time }, mtu: 23) { central, session in
            try await central.subscribe(to: time.currentTime, knownTo: session)
            try expect("time", try await central.read(time.currentTime), is: noon)
            let zone = try await central.read(present(time.localTime))
            try expect("zone", zone.quarterHoursFromUTC, is: -14)
            let reference = try await central.read(present(time.referenceTime))
            try expect("reference", reference.hoursSinceUpdate, is: 49)
            try await time.notify(.daylightSavingTime, in: session)
            var adjusted = try noon
            adjusted.adjustReason = .daylightSavingTime
            try expect("adjustment", try await central.nextUpdate(of: time.currentTime), is: adjusted)
        }
    }

    private static let currentTimeSet = Scenario(
        "CurrentTime: a central sets the clock, and gets an error for an ignored field"
    ) {
        let written = Recorder<CurrentTime>()
        let time = CurrentTimeService(
            onSetTime: { time in
                written.record(time)
                if time.fractions256 != 0 { throw ATTError.currentTimeDataFieldIgnored }
            },
            now: { try noon }
        )
        return ScenarioRun(Peripheral("Clock") { time }) { central, _ in
            var exact = try noon
            exact.fractions256 = 1
            try await central.write(time.currentTime, noon)
            try expect("time", try await written.next(), is: noon)
            try await expectRefusal(of: "fraction", by: .currentTimeDataFieldIgnored) {
                try await central.write(time.currentTime, exact)
            }
        }
    }

    private static var noon: CurrentTime {
        get throws {
            let date = try present(DateTime(year: 2026, month: 11, day: 22, hour: 12))
            return CurrentTime(date, dayOfWeek: .sunday)
        }
    }
}
