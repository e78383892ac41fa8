internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let broadcasting: [Scenario] = [beacon, changedBroadcast, connectableReading]

    /// Scans for up to 10 seconds until the only advertisement on the air has these structures.
    ///
    /// The structures do not include the flags, which the Bluetooth stack adds.
    private static func onlyAdvertisement(
        _ expected: [UInt8],
        scannedBy central: any TestCentral
    ) async throws -> ScanResult {
        var heard: [ScanResult] = []
        let end = ContinuousClock.now + .seconds(10)
        repeat {
            heard = try await central.scan()
            if heard.count == 1, heard[0].bytesWithoutFlags == expected { break }
            try await Task.sleep(for: .milliseconds(5))
        } while ContinuousClock.now < end
        guard heard.count == 1, let result = heard.first else {
            throw ConformanceFailure(description: "expected one advertisement, but received \(heard).")
        }
        try expect("bytes", result.bytesWithoutFlags, is: expected)
        try expect("scan response", result.scanResponse, is: [])
        return result
    }

    private static func expectBroadcast(_ result: ScanResult) throws {
        try expect("connectable", result.isConnectable, is: false)
        let flags = result.payload.flags ?? []
        try expect("other flags", flags.subtracting(.classicNotSupported).rawValue, is: 0)
    }

    static let beacon = Scenario("a peripheral without services only broadcasts its bytes") {
        let content: [UInt8] = [0x02, 0x15] + (0x10...0x1F) + [0, 1, 0, 2, 0xC5]
        let peripheral = Peripheral("Beacon") {
            Advertisement(.broadcast, localName: "", services: [], manufacturerData: [0x004C: content])
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let bytes = [26, 0xFF, 0x4C, 0x00] + content
            try expectBroadcast(await onlyAdvertisement(bytes, scannedBy: central))
            try expect("on the air", session.state.isOnTheAir, is: true)
            do {
                try await central.connect(mtu: 23)
            } catch let error as TestCentralError {
                return try expect("error of the connection", error.code, is: .notFound)
            }
            throw ConformanceFailure(description: "The central has connected to a broadcast.")
        }
    }

    private static func reading(_ level: UInt8) -> [UInt8] { [0x40, 0x01, level] }

    private static func structure(of reading: [UInt8]) -> [UInt8] { [6, 0x16, 0xD2, 0xFC] + reading }

    static let changedBroadcast = Scenario("a peripheral without services broadcasts a changing reading") {
        let peripheral = Peripheral("Sensor") {
            Advertisement(.broadcast, localName: "", services: [], serviceData: [0xFCD2: reading(0)])
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            for level in 0...3 as ClosedRange<UInt8> {
                try await session.changeAdvertisement { $0.serviceData[0xFCD2] = reading(level) }
                let bytes = structure(of: reading(level))
                try expectBroadcast(await onlyAdvertisement(bytes, scannedBy: central))
            }
        }
    }

    static let connectableReading = Scenario(
        "a connectable peripheral without services advertises a changing reading from one address"
    ) {
        let peripheral = Peripheral("Sensor") {
            Advertisement(localName: "", services: [], serviceData: [0xFCD2: reading(0)])
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let first = try await onlyAdvertisement(structure(of: reading(0)), scannedBy: central)
            for level in 1...3 as ClosedRange<UInt8> {
                try await session.changeAdvertisement { $0.serviceData[0xFCD2] = reading(level) }
                let changed = try await onlyAdvertisement(structure(of: reading(level)), scannedBy: central)
                try expect("address", changed.address, is: first.address)
                try expect("connectable", changed.isConnectable, is: true)
            }
            try await central.connect(mtu: 517)
            try expect("services", try await central.serviceTypes(), is: [])
        }
    }
}

extension ScanResult {
    /// The advertising data without its flags.
    fileprivate var bytesWithoutFlags: [UInt8] {
        AdvertisingData(decoding: advertisingData).structures.filter { $0.type != .flags }
            .flatMap { [UInt8($0.data.count + 1), $0.type.rawValue] + $0.data }
    }
}
