internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Added services behave like declared services.
extension ConformanceSuite {
    static let usingAddedServices: [Scenario] =
        [SecurityLevel.encrypted, .authenticated].map(addedServiceIsSecured) + [
            addedServiceIncludesAnother, includedServiceStays, addedControlPointResponds,
            addedServiceReceivesWrites,
        ]

    // MARK: Includes

    /// A service, and a secondary service that it includes.
    private struct Pair {
        let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 99 } }
        let value = Characteristic<[UInt8]>(ScenarioUUID.otherValue, value: [5])
        let inner: GATTService
        let outer: GATTService

        init() {
            let (level, value) = (level, value)
            let inner = GATTService(0xC1A0, isPrimary: false) { level }
            self.inner = inner
            outer = GATTService(0xC1A1, includes: [inner]) { value }
        }
    }

    static let addedServiceIncludesAnother = Scenario(
        "a central finds the secondary service that an added service includes"
    ) {
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral) { central, session in
            let pair = Pair()
            var places: Set<[ClosedRange<AttributeHandle>]> = []
            for number: UInt8 in 0..<2 {
                try await session.add {
                    pair.inner
                    pair.outer
                }
                let found = try await central.discover().applicationServices
                let services = try ([ScenarioUUID.service, pair.inner.uuid, pair.outer.uuid]).map { uuid in
                    guard let service = found.first(where: { $0.uuid == uuid }) else {
                        throw ConformanceFailure(description: "Service \(uuid) is missing.")
                    }
                    return service
                }
                try expect("number of services", found.count, is: 3)
                try expect("primary", services.map(\.isPrimary), is: [true, false, true])
                let inner = services[1].handles.lowerBound
                try expect("included", services.map(\.includedServices), is: [[], [], [inner]])
                try expect("included value", try await central.read(pair.level), is: 99)
                try expect("value", try await central.read(pair.value), is: [5])
                try await central.subscribe(to: pair.level, knownTo: session)
                try await session.notify(pair.level, number)
                try expect("update", try await central.nextUpdate(of: pair.level), is: number)
                places.insert(services.map(\.handles))
                try await session.remove(pair.inner, pair.outer)
                let rest = try await central.serviceTypes()
                try expect("services after the removal", rest, is: [ScenarioUUID.service])
            }
            try expect("number of places", places.count, is: 1)
        }
    }

    static let includedServiceStays = Scenario(
        "a service includes only services of the same call, and keeps them"
    ) {
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral) { central, session in
            let pair = Pair()
            try await session.add { pair.inner }
            let alone = try await central.discover()
            try await expectDeclarationError(of: "service that includes one of another call") {
                try await session.add { pair.outer }
            }
            let other = GATTService(0xC1A2, includes: [GATTService(0xC1A3) {}]) { pair.value }
            try await expectDeclarationError(of: "service that includes an absent one") {
                try await session.add { other }
            }
            try expect("database", try await central.discover(), is: alone)
            try await session.remove(pair.inner)
            try await session.add {
                pair.inner
                pair.outer
            }
            let both = try await central.discover()
            try await expectDeclarationError(of: "removal of an included service") {
                try await session.remove(pair.inner)
            }
            try await expectDeclarationError(of: "replacement of an included service") {
                try await session.replace(pair.inner) { GatewaySensor() }
            }
            try expect("database", try await central.discover(), is: both)
            let level = try await central.locate(pair.level).valueHandle
            // The including service can go alone. Then centrals find the other one only by its handles.
            try await session.remove(pair.outer)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
            try expect("included value", try await central.read(level, offset: 0), is: [99])
            try await session.remove(pair.inner)
            try await expectRefusal(of: "read of a removed value", by: .invalidHandle) {
                try await central.read(level, offset: 0)
            }
        }
    }

    /// Fails the scenario unless the session refuses the change because of the declaration.
    private static func expectDeclarationError(
        of subject: String,
        _ change: () async throws -> Void
    ) async throws {
        do {
            try await change()
        } catch is DeclarationError {
            return
        }
        throw ConformanceFailure(description: "\(subject): there was no DeclarationError.")
    }

    // MARK: Security

    static func addedServiceIsSecured(_ level: SecurityLevel) -> Scenario {
        Scenario("an added service of level \(level) serves only centrals that have paired") {
            let (pairing, user) = wayToPair(for: level)
            let gateway = Gateway(pairing: pairing)
            return ScenarioRun(gateway.peripheral) { central, session in
                let written = Recorder<[UInt8]>()
                let value = Characteristic<[UInt8]>(
                    ScenarioUUID.otherValue,
                    [.read, .write, .notify],
                    security: AttributeSecurity(level)
                ) {
                    Read { [7] }
                    Write { written.record($0) }
                }
                let sensor = GatewaySensor(0, value)
                try await session.add { sensor }
                _ = try await central.discover()
                let refusal: ATTError =
                    level > .encrypted ? .insufficientAuthentication : .insufficientEncryption
                try await expectRefusal(of: "read", by: refusal) { try await central.read(value) }
                try await expectRefusal(of: "write", by: refusal) { try await central.write(value, [1]) }
                try await expectRefusal(of: "subscription", by: refusal) {
                    try await central.subscribe(to: value)
                }
                let events = session.events
                try await central.pair(user)
                try await untilBonded(events)
                for number: UInt8 in 0..<2 {
                    try expect("value", try await central.read(value), is: [7])
                    try await central.write(value, [number])
                    try expect("written value", try await written.next(), is: [number])
                    try await central.subscribe(to: value, knownTo: session)
                    try await session.notify(value, [number])
                    try expect("update", try await central.nextUpdate(of: value), is: [number])
                    guard number == 0 else { continue }
                    try await session.remove(sensor)
                    try await session.add { sensor }
                    _ = try await central.discover()
                }
                // The framework checks the links of subscribers that come back.
                try await returns(central, session)
                try await expectRefusal(of: "read without encryption", by: refusal) {
                    try await central.read(value)
                }
                try await session.notify(value, [3])
                _ = try await central.read(gateway.base)
                try await central.encrypt()
                _ = try await central.read(value)
                try await session.notify(value, [4])
                try expect("update afterwards", try await central.nextUpdate(of: value), is: [4])
            }
        }
    }

    // MARK: Control points and streams

    static let addedControlPointResponds = Scenario(
        "a control point of an added service responds, also after the service was removed and added again"
    ) {
        let (begun, cancelled) = (Recorder<Void>(), Recorder<Void>())
        let controlPoint = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.write, .indicate]) {
            ControlPoint { (request: UInt8, _, _) in
                if request == 1 {
                    begun.record(())
                    for await _ in AsyncStream<Never>.makeStream().stream {}
                    cancelled.record(())
                }
                return [0x10, request]
            }
        }
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral) { central, session in
            let sensor = GatewaySensor(0, controlPoint)
            for request: UInt8 in 0x80..<0x82 {
                try await session.add { sensor }
                _ = try await central.discover()
                try await central.subscribe(to: controlPoint, knownTo: session)
                let response = try await central.request(request, of: controlPoint)
                try expect("response", response, is: [0x10, request])
                try await central.write(UInt8(1), to: controlPoint)
                try await begun.next()
                let handle = try await central.locate(controlPoint).valueHandle
                // The procedure never ends by itself.
                try await session.remove(sensor)
                try await cancelled.next()
                try await expectRefusal(of: "request", by: .invalidHandle) {
                    try await central.write(handle, [0x80])
                }
            }
        }
    }

    /// A service that records what centrals write.
    private struct Recording: GATTServiceDeclaration {
        let values = Characteristic<UInt16>(ScenarioUUID.otherValue, [.write, .writeWithoutResponse]) {
            WriteStream()
        }
        let written = Recorder<UInt16>()
        let ended = Recorder<Void>()

        var service: GATTService { GATTService(0xC1B0) { values } }

        func run(in session: PeripheralSession) async throws {
            for await write in try session.writes(to: values) { written.record(write.value) }
            ended.record(())
        }
    }

    static let addedServiceReceivesWrites = Scenario(
        "an added service takes the writes to its stream in their order, until it is removed"
    ) {
        ScenarioRun(Gateway().peripheral) { central, session in
            let recording = Recording()
            for _ in 0..<2 {
                try await session.add { recording }
                _ = try await central.discover()
                for number: UInt16 in 0..<20 {
                    if number.isMultiple(of: 2) {
                        try await central.write(recording.values, number)
                    } else {
                        try await central.writeWithoutResponse(recording.values, number)
                    }
                }
                for number: UInt16 in 0..<20 {
                    try expect("written value", try await recording.written.next(), is: number)
                }
                try await session.remove(recording)
                try await recording.ended.next()
            }
            try expect("written values", recording.written.count, is: 40)
        }
    }
}
