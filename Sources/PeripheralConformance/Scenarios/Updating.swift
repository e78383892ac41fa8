internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let updating: [Scenario] = [
        notificationsArrive, indicationsArrive, centralChooses, emptyUpdateArrives,
        nothingWithoutSubscription,
        nothingAfterUnsubscription, subscriptionEndsWithConnection, configurationIsRead,
        configurationIsChecked, longUpdateIsCut, uploaderGetsUpdates,
        programWaitsForSubscriber, acceptedValuesLeave(.notify), acceptedValuesLeave(.indicate),
    ]

    private typealias Body =
        @Sendable (
            any TestCentral, PeripheralSession, Characteristic<[UInt8]>
        ) async throws -> Void

    /// Creates a run with one characteristic of bytes that a central can subscribe to.
    private static func scenarioRun(
        _ properties: CharacteristicProperties,
        mtu: Int = 517,
        _ body: @escaping Body
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, properties.union(.read)) { Read { [] } }
        let peripheral = Peripheral("Updates") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: mtu) { central, session in
            try await body(central, session, value)
        }
    }

    /// Subscribes and waits until the program knows the subscription.
    ///
    /// A Bluetooth stack responds to the central before it reports the subscription to the program. A later
    /// request does not overtake this report.
    private static func subscribe(
        _ central: any TestCentral,
        to value: Characteristic<[UInt8]>,
        for kind: UpdateKind? = nil
    ) async throws {
        try await central.subscribe(to: value, for: kind)
        _ = try await central.read(value)
    }

    private static func nextUpdate(
        _ central: any TestCentral,
        of value: Characteristic<[UInt8]>
    ) async throws -> ReceivedUpdate {
        try await central.nextUpdate(of: central.locate(value).valueHandle)
    }

    static let notificationsArrive = Scenario("notifications arrive in their order") {
        scenarioRun(.notify) { central, session, value in
            try await subscribe(central, to: value)
            for number: UInt8 in 1...20 { try await session.notify(value, [number, 0xFF]) }
            for number: UInt8 in 1...20 {
                let update = try await nextUpdate(central, of: value)
                try expect("update", update, is: ReceivedUpdate(kind: .notification, value: [number, 0xFF]))
            }
        }
    }

    static let programWaitsForSubscriber = Scenario("a program waits for a subscriber, and then reaches it") {
        scenarioRun(.notify) { central, session, value in
            for number: UInt8 in 1...3 {
                async let subscription = session.waitForSubscriber(of: value)
                try await central.subscribe(to: value)
                try expect("subscriber", try await subscription.mayBe(of: session.centrals[0]), is: true)
                // A subscriber that is there already ends the wait as well.
                try await session.waitForSubscriber(of: value)
                try expect("accepted", try session.update(value, [number]), is: true)
                try expect("update", try await central.nextUpdate(of: value), is: [number])
                let events = session.events
                try await central.unsubscribe(from: value)
                try await next(of: events, "end") { _ in session.subscriptions.isEmpty }
            }
        }
    }

    static func acceptedValuesLeave(_ property: CharacteristicProperties) -> Scenario {
        Scenario(
            "a program waits until all \(property == .notify ? "notifications" : "indications") have left"
        ) {
            scenarioRun(property) { central, session, value in
                try await subscribe(central, to: value)
                var accepted: [UInt8] = []
                for number: UInt8 in 1...40 where try session.update(value, [number]) {
                    accepted.append(number)
                }
                try await session.waitUntilSent()
                let counters = session.updateTotals.map(\.counters)
                try expect("queued", counters.map(\.queued), is: [0])
                try expect("in flight", counters.map(\.inFlight), is: [0])
                for number in accepted {
                    try expect("update", try await central.nextUpdate(of: value), is: [number])
                }
                // Without values, there is nothing to wait for.
                try await session.waitUntilSent()
            }
        }
    }

    static let indicationsArrive = Scenario("indications arrive in their order") {
        scenarioRun(.indicate) { central, session, value in
            try await subscribe(central, to: value)
            for number: UInt8 in 1...5 { try await session.notify(value, [number]) }
            for number: UInt8 in 1...5 {
                let update = try await nextUpdate(central, of: value)
                try expect("update", update, is: ReceivedUpdate(kind: .indication, value: [number]))
            }
        }
    }

    static let centralChooses = Scenario("the central chooses between notifications and indications") {
        scenarioRun([.notify, .indicate]) { central, session, value in
            for kind: UpdateKind in [.notification, .indication] {
                try await subscribe(central, to: value, for: kind)
                try await session.notify(value, [1])
                let update = try await nextUpdate(central, of: value)
                try expect("update", update, is: ReceivedUpdate(kind: kind, value: [1]))
                try await central.unsubscribe(from: value)
            }
        }
    }

    static let emptyUpdateArrives = Scenario("an empty value and one of 512 bytes are notified") {
        scenarioRun(.notify) { central, session, value in
            try await subscribe(central, to: value)
            for length in [0, 1, 512] {
                try await session.notify(value, pattern(length))
                try expect("update", try await central.nextUpdate(of: value), is: pattern(length))
            }
        }
    }

    static let longUpdateIsCut = Scenario("an update that is longer than the packet is cut") {
        scenarioRun([.notify, .indicate], mtu: 50) { central, session, value in
            for kind: UpdateKind in [.notification, .indication] {
                try await subscribe(central, to: value, for: kind)
                try await session.notify(value, pattern(100))
                try expect("update", try await central.nextUpdate(of: value), is: pattern(47))
                try await central.unsubscribe(from: value)
            }
        }
    }

    static let nothingWithoutSubscription = Scenario("nothing is sent to a central that has not subscribed") {
        scenarioRun(.notify) { central, session, value in
            try await session.notify(value, [1])
            // The subscription must not overtake the update that has no recipient.
            _ = try await central.read(value)
            try await subscribe(central, to: value)
            try await session.notify(value, [2])
            try expect("first update", try await central.nextUpdate(of: value), is: [2])
        }
    }

    static let nothingAfterUnsubscription = Scenario("nothing is sent once the central has unsubscribed") {
        scenarioRun(.notify) { central, session, value in
            try await subscribe(central, to: value)
            try await session.notify(value, [1])
            try expect("first update", try await central.nextUpdate(of: value), is: [1])
            try await central.unsubscribe(from: value)
            try await session.notify(value, [2])
            // The second subscription must not overtake the update that has no recipient.
            _ = try await central.read(value)
            try await subscribe(central, to: value)
            try await session.notify(value, [3])
            try expect("next update", try await central.nextUpdate(of: value), is: [3])
        }
    }

    static let subscriptionEndsWithConnection = Scenario(
        "a subscription ends with the connection, and begins again in the next"
    ) {
        scenarioRun(.notify) { central, session, value in
            try await subscribe(central, to: value)
            try await session.notify(value, [1])
            try expect("update", try await central.nextUpdate(of: value), is: [1])
            try await central.disconnect()
            try await session.notify(value, [2])
            try await central.connect()
            // The second subscription must not overtake the update that has no recipient.
            _ = try await central.read(value)
            let configuration = BluetoothUUID.clientCharacteristicConfiguration
            try expect("configuration", try await central.read(configuration, of: value), is: [0, 0])
            try await subscribe(central, to: value)
            try await session.notify(value, [3])
            try expect("update", try await central.nextUpdate(of: value), is: [3])
        }
    }

    static let configurationIsRead = Scenario("the central reads its own configuration") {
        scenarioRun([.notify, .indicate]) { central, _, value in
            let configuration = BluetoothUUID.clientCharacteristicConfiguration
            try expect("before", try await central.read(configuration, of: value), is: [0, 0])
            try await central.subscribe(to: value, for: .indication)
            try expect("subscribed", try await central.read(configuration, of: value), is: [2, 0])
            try await central.unsubscribe(from: value)
            try expect("afterwards", try await central.read(configuration, of: value), is: [0, 0])
        }
    }

    static let configurationIsChecked = Scenario("a configuration that the characteristic lacks is refused") {
        scenarioRun(.notify) { central, _, value in
            let handle = try await central.locate(value).handle(of: .clientCharacteristicConfiguration)
            for configuration: [UInt8] in [[2, 0], [3, 0], [4, 0]] {
                try await expectRefusal(
                    of: "configuration \(configuration)",
                    by: .clientCharacteristicConfigurationImproperlyConfigured
                ) {
                    try await central.write(handle, configuration)
                }
            }
            try await expectRefusal(of: "3 bytes", by: .invalidAttributeValueLength) {
                try await central.write(handle, [1, 0, 0])
            }
            try expect("configuration", try await central.readLong(handle), is: [0, 0])
        }
    }

    /// Without `CAP_NET_RAW`, a program cannot detect which outgoing packets respond to packets of an upload.
    ///
    /// The test environment also runs this scenario without `CAP_NET_RAW`.
    static let uploaderGetsUpdates = Scenario("updates arrive while their subscriber uploads") {
        let upload = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .writeWithoutResponse) {
            Write { _, _ in }
        }
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) { Read { 0 } }
        let peripheral = Peripheral("Uploads") {
            GATTService(ScenarioUUID.service) {
                upload
                value
            }
        }
        return ScenarioRun(peripheral, mtu: 247) { central, session in
            try await central.subscribe(to: value, knownTo: session)
            let packet = pattern(200)
            let uploading = Task {
                while !Task.isCancelled { try await central.writeWithoutResponse(upload, packet) }
            }
            defer { uploading.cancel() }
            for number: UInt8 in 1...200 {
                try await session.notify(value, number)
                try expect("update", try await central.nextUpdate(of: value), is: number)
            }
            uploading.cancel()
            // An upload that ends in the middle of a packet has not failed.
            do { try await uploading.value } catch is CancellationError {}
        }
    }
}
