internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let structure: [Scenario] = [
        secondaryServiceIsIncluded, primaryServicesAreIncluded, instancesAreApart, servicesArePinned,
        handlesAreTold,
        databaseStaysTheSame, formatsAreRead,
    ]

    static let secondaryServiceIsIncluded = Scenario(
        "a secondary service is found in the one that includes it"
    ) {
        let level = Characteristic<UInt8>(0x2A19, value: 99)
        let value = Characteristic<UInt8>(ScenarioUUID.value, value: 1)
        let battery = GATTService(0x180F, isPrimary: false) { level }
        let peripheral = Peripheral("Secondary") {
            battery
            GATTService(ScenarioUUID.service, includes: [battery]) { value }
        }
        return ScenarioRun(peripheral) { central, _ in
            let services = try await central.discover().applicationServices
            try expect("services", services.map(\.uuid), is: [0x180F, ScenarioUUID.service])
            try expect("primary", services.map(\.isPrimary), is: [false, true])
            try expect(
                "included",
                services.map(\.includedServices),
                is: [[], [services[0].handles.lowerBound]]
            )
            try expect("included value", try await central.read(level), is: 99)
            try expect("value", try await central.read(value), is: 1)
        }
    }

    static let primaryServicesAreIncluded = Scenario("a service includes several others, in their order") {
        let levels = (0..<3).map { Characteristic<UInt8>(0x2A19, value: $0) }
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) { Read { 7 } }
        let batteries = levels.map { level in GATTService(0x180F) { level } }
        let peripheral = Peripheral("Includes") {
            for battery in batteries { battery }
            GATTService(ScenarioUUID.service, includes: [batteries[2], batteries[0]]) { value }
        }
        return ScenarioRun(peripheral) { central, _ in
            let services = try await central.discover().applicationServices
            try expect("services", services.map(\.uuid), is: [0x180F, 0x180F, 0x180F, ScenarioUUID.service])
            try expect("primary", Set(services.map(\.isPrimary)), is: [true])
            let places = [2, 0].map { services[$0].handles.lowerBound }
            try expect("included", services.map(\.includedServices), is: [[], [], [], places])
            for (number, level) in levels.enumerated() {
                try expect("level", try await central.read(level), is: UInt8(number))
            }
            try expect("value", try await central.read(value), is: 7)
        }
    }

    static let instancesAreApart = Scenario(
        "services of one type are read, written and notified each by itself"
    ) {
        let written = Recorder<[UInt8]>()
        let values = (0..<3 as Range<UInt8>).map { number in
            Characteristic<UInt8>(ScenarioUUID.value, [.read, .write, .notify]) {
                Read { number }
                Write { value in written.record([number, value]) }
            }
        }
        let peripheral = Peripheral("Instances") {
            for value in values { GATTService(ScenarioUUID.service) { value } }
        }
        return ScenarioRun(peripheral) { central, session in
            let found = try await central.discover().applicationServices
            try expect("services", found.map(\.uuid), is: values.map { _ in ScenarioUUID.service })
            for (number, value) in values.enumerated().reversed() {
                try expect("value", try await central.read(value), is: UInt8(number))
                try await central.write(value, UInt8(10 + number))
                try expect(
                    "written value",
                    try await written.next(),
                    is: [UInt8(number), UInt8(10 + number)]
                )
                try await central.subscribe(to: value)
                _ = try await central.read(value)
                try expect("subscribers", try session.subscribers(of: value).count, is: 1)
            }
            for (number, value) in values.enumerated() { try await session.notify(value, UInt8(20 + number)) }
            for (number, value) in values.enumerated().reversed() {
                try expect("update", try await central.nextUpdate(of: value), is: UInt8(20 + number))
            }
        }
    }

    static let servicesArePinned = Scenario("services stand where they are pinned") {
        let level = Characteristic<UInt8>(0x2A19, value: 99)
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) {
            Read { 1 }
            UserDescription("One")
        }
        let other = Characteristic<UInt8>(ScenarioUUID.otherValue, value: 2)
        let battery = GATTService(0x180F, handle: 0x0200) { level }
        let peripheral = Peripheral("Pinned") {
            battery
            GATTService(ScenarioUUID.service, includes: [battery], handle: 0x0100) {
                value; other
            }
        }
        return ScenarioRun(peripheral) { central, session in
            let services = try await central.discover().applicationServices
            try expect("services", services.map(\.handles.lowerBound), is: [0x0100, 0x0200])
            try expect("types", services.map(\.uuid), is: [ScenarioUUID.service, 0x180F])
            try expect("included", services.map(\.includedServices), is: [[0x0200], []])
            // The order is: service declaration, include declaration, characteristic declaration, value.
            let found = services[0].characteristics
            try expect("values", found.map(\.valueHandle), is: [0x0103, 0x0107])
            try expect(
                "descriptors",
                found.map { $0.descriptors.map(\.handle) },
                is: [[0x0104, 0x0105], []]
            )
            try expect("level", services[1].characteristics.map(\.valueHandle), is: [0x0202])
            try expect(
                "reported handles",
                try [session.handle(of: value), session.handle(of: other)],
                is: [0x0103, 0x0107]
            )
            try expect("level", try await central.read(level), is: 99)
            try expect("value", try await central.read(value), is: 1)
            try expect("other value", try await central.read(other), is: 2)
        }
    }

    static let handlesAreTold = Scenario("the program knows the handles that centrals see") {
        let values = (0..<4 as Range<UInt8>).map { number in
            Characteristic<UInt8>(ScenarioUUID.value, number % 2 == 0 ? .read : [.read, .notify]) {
                Read { number }
                if number == 1 { UserDescription("One") }
            }
        }
        let peripheral = Peripheral("Handles") {
            GATTService(0x180F) { values[0...1].map(\.self) }
            GATTService(ScenarioUUID.service) { values[2...3].map(\.self) }
        }
        return ScenarioRun(peripheral) { central, session in
            for value in values {
                let handle = try await central.locate(value).valueHandle
                try expect("reported handle", try session.handle(of: value), is: handle)
            }
        }
    }

    static let databaseStaysTheSame = Scenario(
        "what is pinned stands there again the next time, in the same database"
    ) {
        let level = Characteristic<UInt8>(0x2A19, value: 99)
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write, .notify]) {
            Read { 1 }
            Write { _ in }
            UserDescription("One")
        }
        let peripheral = Peripheral("Again") {
            GATTService(0x180F, handle: 0x0100) { level }
            GATTService(ScenarioUUID.service, handle: 0x0110) { value }
        }
        let seen = Recorder<(DiscoveredDatabase, [UInt8])>()
        return ScenarioRun(peripheral, runs: 2) { central, _ in
            let database = try await central.discover()
            let genericAttribute = database.services.first { $0.uuid == .genericAttribute }
            let hash = genericAttribute?.characteristics.first { $0.uuid == .databaseHash }
            guard let hash else { throw ConformanceFailure(description: "There is no Database Hash.") }
            let bytes = try await central.readLong(hash.valueHandle)
            try expect("length of the hash", bytes.count, is: 16)
            seen.record((database, bytes))
            guard seen.count == 2 else { return }
            let (first, second) = (try await seen.next(), try await seen.next())
            try expect("services", second.0.services, is: first.0.services)
            try expect("Database Hash", second.1, is: first.1)
        }
    }

    static let formatsAreRead = Scenario("a central reads the formats and the range of a value") {
        let first = PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .read) {
            Read { [0, 0, 0] }
            first
            PresentationFormat(.uint8)
            AggregateFormat()
        }
        let other = Characteristic<UInt8>(ScenarioUUID.otherValue, .read) {
            Read { 50 }
            UserDescription("Brightness in %")
            ValidRange(5...100)
        }
        let peripheral = Peripheral("Formats") {
            GATTService(ScenarioUUID.service) {
                value; other
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            let formats = try await central.locate(value).descriptors.filter {
                $0.uuid == .characteristicPresentationFormat
            }
            try expect("formats", formats.count, is: 2)
            let values: [[UInt8]] = [
                [0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x00, 0x00], [0x04, 0x00, 0x00, 0x27, 0x01, 0x00, 0x00],
            ]
            for (format, expected) in zip(formats, values) {
                try expect("format", try await central.readLong(format.handle), is: expected)
            }
            let aggregate = try await central.read(.characteristicAggregateFormat, of: value)
            try expect("aggregate format", aggregate, is: formats.flatMap { $0.handle.rawValue.gattBytes })
            try expect("range", try await central.read(.validRange, of: other), is: [5, 100])
            let description = try await central.read(.characteristicUserDescription, of: other)
            try expect("description", description, is: Array("Brightness in %".utf8))
        }
    }
}
