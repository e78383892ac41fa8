internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Values that require a secure link are not sent to centrals that reconnect without one.
///
/// Some Bluetooth stacks check the link only when a central subscribes, so the framework must check it.
extension ConformanceSuite {
    static let securedUpdating: [Scenario] =
        [SecurityLevel.encrypted, .authenticated, .secureConnections].map(returnedSubscriberEncrypts) + [
            returnedSubscriberIndicates, forgottenSubscriberIsStranger, othersAreSecure,
            openUpdatesNeedNoEncryption, levelsOfOneCharacteristic, securedDescriptor,
        ]

    /// Reconnects a bonded and subscribed central without encryption.
    static func returns(
        _ central: any TestCentral,
        _ session: PeripheralSession,
        _ body: () async throws -> Void = {}
    ) async throws {
        let events = session.events
        try await central.disconnect()
        try await next(of: events, "leaving") { $0.kind == "disconnected" }
        try await body()
        try await central.connect(mtu: 517, encrypting: false)
    }

    /// Returns a pairing whose keys have this level, and the user of the central.
    static func wayToPair(for level: SecurityLevel) -> (Pairing, PairingUser) {
        guard level > .encrypted else { return (.justWorks, .justWorks) }
        let shown = Recorder<UInt32>()
        return (
            .displayPasskey { passkey, _ in shown.record(passkey) }, .entering { try? await shown.next() }
        )
    }

    private static func makeValue(
        _ properties: CharacteristicProperties,
        _ security: AttributeSecurity
    ) -> Characteristic<[UInt8]> {
        Characteristic(ScenarioUUID.value, properties, security: security) { Read { [] } }
    }

    static func returnedSubscriberEncrypts(_ level: SecurityLevel) -> Scenario {
        Scenario("a subscriber that comes back gets values of level \(level) only when it has encrypted") {
            let (pairing, user) = wayToPair(for: level)
            let value = makeValue([.read, .notify], AttributeSecurity(notify: level))
            let peripheral = Peripheral("Returned", pairing: pairing) {
                GATTService(ScenarioUUID.service) { value }
            }
            return ScenarioRun(peripheral) { central, session in
                try await central.pair(user)
                try await central.subscribe(to: value)
                _ = try await central.read(value)
                try await session.notify(value, [0])
                try expect("update before", try await central.nextUpdate(of: value), is: [0])
                try await returns(central, session)
                _ = try await central.read(value)
                try await session.notify(value, [1])
                for subscriber in try session.subscribers(of: value).compactMap(\.central) {
                    try await expectError(of: "update for it alone", .insufficientSecurity) {
                        try await session.notify(value, [2], to: subscriber)
                    }
                }
                _ = try await central.read(value)
                try await central.encrypt()
                _ = try await central.read(value)
                try await session.notify(value, [3])
                try expect("update afterwards", try await central.nextUpdate(of: value), is: [3])
            }
        }
    }

    static let returnedSubscriberIndicates = Scenario(
        "an indication fails while a subscriber that has come back has not encrypted"
    ) {
        let value = makeValue([.read, .indicate], AttributeSecurity(notify: .encrypted))
        let peripheral = Peripheral("Indicated", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.indicate(value, [0])
            try expect("indication before", try await central.nextUpdate(of: value), is: [0])
            try await returns(central, session)
            _ = try await central.read(value)
            try await expectError(of: "indication", .insufficientSecurity) {
                try await session.indicate(value, [1])
            }
            try await central.encrypt()
            _ = try await central.read(value)
            try await session.indicate(value, [2])
            try expect("indication afterwards", try await central.nextUpdate(of: value), is: [2])
        }
    }

    static let forgottenSubscriberIsStranger = Scenario(
        "a subscriber that was forgotten while it was away gets no secured values before it has paired"
    ) {
        let value = makeValue([.read, .notify], AttributeSecurity(notify: .encrypted))
        let peripheral = Peripheral("Forgotten", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            let known = session.centrals
            try expect("bonded", known.map(\.isBonded), is: [true])
            try await returns(central, session) {
                try await session.forget(known[0])
                try await central.forgetBond()
            }
            _ = try await central.read(value)
            try await session.notify(value, [1])
            _ = try await central.read(value)
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.notify(value, [2])
            try expect("update afterwards", try await central.nextUpdate(of: value), is: [2])
        }
    }

    static let othersAreSecure = Scenario(
        "while a reconnected subscriber has not encrypted its link, other subscribers receive updates that require security"
    ) {
        let value = makeValue([.read, .notify], AttributeSecurity(notify: .encrypted))
        let peripheral = Peripheral("Others", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral, mtu: nil) { first, session in
            try await withCentrals(first, mtus: [517, 247]) { centrals in
                for central in centrals {
                    try await central.pair(.justWorks)
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                try await returns(centrals[1], session)
                _ = try await centrals[1].read(value)
                try await session.notify(value, [1])
                _ = try await centrals[1].read(value)
                try await centrals[1].encrypt()
                _ = try await centrals[1].read(value)
                try await session.notify(value, [2])
                try expect(
                    "update of the reconnected subscriber",
                    try await centrals[1].nextUpdate(of: value),
                    is: [2]
                )
                try expect(
                    "first update that the other subscriber received",
                    try await centrals[0].nextUpdate(of: value),
                    is: [1]
                )
                try expect(
                    "second update that the other subscriber received",
                    try await centrals[0].nextUpdate(of: value),
                    is: [2]
                )
            }
        }
    }

    static let openUpdatesNeedNoEncryption = Scenario(
        "a subscriber that comes back gets values that demand no security before it has encrypted"
    ) {
        let value = makeValue([.read, .notify], AttributeSecurity(read: .encrypted))
        let peripheral = Peripheral("Open", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            let events = session.events
            try await returns(central, session)
            try await next(of: events, "resumption") { $0.kind == "subscribed" }
            try await expectRefusal(of: "read", by: .insufficientEncryption) { try await central.read(value) }
            try await session.notify(value, [1])
            try expect("update", try await central.nextUpdate(of: value), is: [1])
        }
    }

    static let levelsOfOneCharacteristic = Scenario(
        "reading, writing and subscribing can each demand a level of their own"
    ) {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(
            ScenarioUUID.value,
            [.read, .write, .notify],
            security: AttributeSecurity(write: .encrypted, notify: .authenticated)
        ) {
            Read { [7] }
            Write { value, _ in written.record(value) }
        }
        let (pairing, user) = wayToPair(for: .authenticated)
        let peripheral = Peripheral("Levels", pairing: pairing) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, session in
            try expect("value", try await central.read(value), is: [7])
            try await expectRefusal(of: "write", by: .insufficientEncryption) {
                try await central.write(value, [1])
            }
            try await expectRefusal(of: "subscription", by: .insufficientAuthentication) {
                try await central.subscribe(to: value)
            }
            try await central.pair(user)
            try await central.write(value, [2])
            try expect("written value", try await written.next(), is: [2])
            try await central.subscribe(to: value)
            _ = try await central.read(value)
            try await session.notify(value, [3])
            try expect("update", try await central.nextUpdate(of: value), is: [3])
        }
    }

    static let securedDescriptor = Scenario(
        "a descriptor can demand security that its characteristic does not"
    ) {
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read]) {
            Read { 7 }
            Descriptor<UInt8>(ScenarioUUID.descriptor, security: .encrypted) { Read { 8 } }
        }
        let peripheral = Peripheral("Descriptor", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, _ in
            try expect("value", try await central.read(value), is: 7)
            try await expectRefusal(of: "descriptor", by: .insufficientEncryption) {
                try await central.read(ScenarioUUID.descriptor, of: value)
            }
            try await central.pair(.justWorks)
            try expect("descriptor", try await central.read(ScenarioUUID.descriptor, of: value), is: [8])
        }
    }
}
