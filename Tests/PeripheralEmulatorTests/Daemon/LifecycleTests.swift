import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// How daemon, adapters and centrals come and go on the bus, as recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct LifecycleTests {
    private static let adapter = "/org/bluez/hci0"

    private static func changed(_ path: String, _ interface: String, _ properties: String) -> String {
        "PropertiesChanged \(path)(s 'org.bluez.\(interface)', {\(properties)}, [])"
    }

    private static func removed(_ path: String, _ interfaces: String...) -> String {
        "InterfacesRemoved /(o \(path), [" + interfaces.map { "s '\($0)'" }.joined(separator: ", ") + "])"
    }

    private static let poweredOff = changed(adapter, "Adapter1", "'Powered': b false, 'Discovering': b false")

    @Test func objectTreeIsThatOfBlueZ() async throws {
        try await withEmulatedBlueZ { bluez in
            try await RawApplication.run(on: bluez) { application in
                let answer = try await application.connection.call(
                    "org.bluez",
                    "/",
                    .objectManager,
                    "GetManagedObjects"
                )
                let objects = try #require(answer.first?.dictionary)
                #expect(objects.entries.map { $0.key.objectPath?.text } == ["/org/bluez", Self.adapter])
                let interfaces = objects.entries.map { object in
                    object.value.dictionary?.entries.compactMap(\.key.string) ?? []
                }
                let introspectable = "org.freedesktop.DBus.Introspectable"
                #expect(
                    interfaces == [
                        [
                            introspectable, "org.bluez.AgentManager1", "org.bluez.ProfileManager1",
                            "org.bluez.HealthManager1",
                        ],
                        [
                            introspectable, "org.bluez.Adapter1", "org.freedesktop.DBus.Properties",
                            "org.bluez.GattManager1", "org.bluez.Media1", "org.bluez.LEAdvertisingManager1",
                        ],
                    ]
                )
                let adapter = objects.entries[1].value["org.bluez.Adapter1"]?.dictionary
                #expect(
                    adapter?.entries.compactMap(\.key.string) == [
                        "Address", "AddressType", "Name", "Alias", "Class", "Powered", "Discoverable",
                        "DiscoverableTimeout", "Pairable", "PairableTimeout", "Discovering", "UUIDs",
                        "Modalias", "Roles",
                    ]
                )
                #expect(objects.entries[1].value["org.bluez.Adapter1"]?["Name"]?.string == "BlueZ 5.66")
                let manager = objects.entries[1].value["org.bluez.LEAdvertisingManager1"]
                #expect(
                    manager?.text == "{'ActiveInstances': y 0, 'SupportedInstances': y 5, "
                        + "'SupportedIncludes': [s 'tx-power', s 'appearance', s 'local-name'], "
                        + "'SupportedSecondaryChannels': [s '1M', s '2M', s 'Coded']}"
                )
            }
        }
    }

    @Test func centralAppearsAndIsForgottenAfterHalfAMinute() async throws {
        let clock = ManualClock()
        try await withEmulatedBlueZ(.init(clock: clock)) { bluez in
            try await RawApplication.run(on: bluez) { application in
                try await application.exportAdvertisement([("Type", .string("peripheral"))])
                #expect(await application.advertise() == "ok")
                _ = await application.signals.take(1)
                let central = bluez.central(for: Peripheral("Device") {})
                let name = central.address.description.split(separator: ":").joined(separator: "_")
                let path = "\(Self.adapter)/dev_\(name)"

                try await central.connect()
                let appearance = await application.signals.take(2)
                #expect(
                    appearance[0].hasPrefix(
                        "InterfacesAdded /(o \(path), {'org.freedesktop.DBus.Introspectable'"
                    )
                )
                #expect(appearance[1] == Self.changed(path, "Device1", "'ServicesResolved': b true"))
                central.disconnect()
                let properties = "'ServicesResolved': b false, 'Connected': b false"
                #expect(await application.signals.take(1) == [Self.changed(path, "Device1", properties)])
                await clock.waitForSleeper()
                try await central.connect()
                #expect(
                    await application.signals.take(2)[0]
                        == Self.changed(path, "Device1", "'Connected': b true")
                )
                // It is connected again when the first half minute is over.
                clock.advance(by: .seconds(30))
                central.disconnect()
                _ = await application.signals.take(1)
                await clock.waitForSleeper()
                clock.advance(by: .seconds(30))
                #expect(
                    await application.signals.take(1) == [
                        Self.removed(
                            path,
                            "org.freedesktop.DBus.Properties",
                            "org.freedesktop.DBus.Introspectable",
                            "org.bluez.Device1"
                        )
                    ]
                )
            }
        }
    }

    @Test(arguments: [EmulatedAdapter.Kind.extended, .legacy])
    func powerOffDisconnectsAndKeepsWhatIsRegistered(kind: EmulatedAdapter.Kind) async throws {
        try await Stage.run(.init(adapters: [EmulatedAdapter(kind: kind)])) { stage, central in
            try await central.subscribe(Stage.Handle.notify, to: .notification)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            _ = stage.application.signals.take()
            await stage.bluez.setPowered(false)
            #expect(await stage.application.calls.take(1) == ["StopNotify /app/s/notify() NO_REPLY_EXPECTED"])
            let signals = await stage.application.signals.take(2)
            #expect(signals.last == Self.poweredOff)
            #expect(signals[0].hasSuffix("{'ServicesResolved': b false, 'Connected': b false}, [])"))
            #expect(central.scan().isEmpty)
            try await stage.application.exportAdvertisement(
                [("Type", .string("peripheral"))],
                at: "/app/adv2"
            )
            #expect(
                await stage.application.advertise("/app/adv2")
                    == "org.bluez.Error.Failed: Failed to register advertisement"
            )

            await stage.bluez.setPowered(true)
            #expect(
                await stage.application.signals.take(1)
                    == [Self.changed(Self.adapter, "Adapter1", "'Powered': b true")]
            )
            // With extended advertising, the kernel does not take the advertisement up again.
            #expect(central.scan().isEmpty == (kind == .extended))
            #expect(await stage.application.register() == "org.bluez.Error.AlreadyExists: Already Exists")
            #expect(await stage.application.advertise() == "org.bluez.Error.AlreadyExists: Already Exists")
            #expect(await stage.application.unadvertise() == "ok")
            #expect(await stage.application.advertise() == "ok")
            try await central.connect(mtu: 23)
        }
    }

    @Test func unpluggedAdapterVanishesPieceByPiece() async throws {
        try await Stage.run { stage, central in
            central.disconnect()
            try await stage.application.settle()
            _ = stage.application.signals.take()
            await stage.bluez.removeAdapter("hci0")
            let signals = await stage.application.signals.take(5)
            #expect(
                signals.suffix(4) == [
                    Self.poweredOff,
                    Self.removed(Self.adapter, "org.bluez.GattManager1", "org.bluez.Media1"),
                    Self.removed(Self.adapter, "org.bluez.LEAdvertisingManager1"),
                    Self.removed(
                        Self.adapter,
                        "org.freedesktop.DBus.Properties",
                        "org.freedesktop.DBus.Introspectable",
                        "org.bluez.Adapter1"
                    ),
                ]
            )
            #expect(signals[0].contains("org.bluez.Device1"))
            #expect(await stage.application.calls.take(1) == ["Release /app/adv() NO_REPLY_EXPECTED"])
            #expect(
                await stage.application.unregister().hasPrefix("org.freedesktop.DBus.Error.UnknownObject")
            )

            try await stage.bluez.addAdapter(EmulatedAdapter())
            let added = await stage.application.signals.take(1)
            #expect(added.count == 1)
            #expect(added[0].hasPrefix("InterfacesAdded /(o \(Self.adapter), "))
            #expect(await stage.application.unadvertise() == "org.bluez.Error.DoesNotExist: Does Not Exist")
            #expect(await stage.application.register() == "ok")
            #expect(await stage.application.advertise() == "ok")
            // The same central, and the handles begin again.
            try await central.connect(mtu: 517)
            #expect(try await central.discover().services[3].handles.lowerBound == 0x0015)
        }
    }

    @Test func daemonThatIsStoppedReleasesAndStartsAnew() async throws {
        try await Stage.run { stage, central in
            let owners = CallLog()
            _ = try await stage.application.connection.watchName("org.bluez") { owner in
                owners.add(owner == nil ? "gone" : "there")
            }
            _ = owners.take()
            try await stage.application.settle()
            _ = stage.application.signals.take()
            await stage.bluez.stopDaemon()
            #expect(await owners.take(1) == ["gone"])
            let signals = stage.application.signals.take().filter { !$0.contains("org.bluez.Device1") }
            #expect(
                signals == [
                    Self.poweredOff, Self.removed(Self.adapter, "org.bluez.Media1"),
                    Self.removed("/org/bluez", "org.bluez.HealthManager1"),
                    Self.removed(
                        "/org/bluez",
                        "org.freedesktop.DBus.Introspectable",
                        "org.bluez.AgentManager1",
                        "org.bluez.ProfileManager1"
                    ),
                    Self.removed(Self.adapter, "org.bluez.GattManager1"),
                    Self.removed(Self.adapter, "org.bluez.LEAdvertisingManager1"),
                    Self.removed(
                        Self.adapter,
                        "org.freedesktop.DBus.Properties",
                        "org.freedesktop.DBus.Introspectable",
                        "org.bluez.Adapter1"
                    ),
                ]
            )
            #expect(stage.application.calls.take() == ["Release /app/adv() NO_REPLY_EXPECTED"])
            #expect(central.scan().isEmpty)
            #expect(await outcome { try await central.read(Stage.Handle.ro, offset: 0) } != "01")
            #expect(
                await stage.application.register().hasPrefix("org.freedesktop.DBus.Error.ServiceUnknown")
            )

            try await stage.bluez.startDaemon()
            #expect(await owners.take(1) == ["there"])
            #expect(await stage.application.register() == "ok")
            #expect(await stage.application.advertise() == "ok")
            try await central.connect(mtu: 23)
        }
    }

    @Test func daemonThatIsKilledSaysNothing() async throws {
        try await Stage.run { stage, central in
            try await stage.application.settle()
            _ = stage.application.signals.take()
            let gone = CallLog()
            _ = try await stage.application.connection.watchName("org.bluez") { owner in
                if owner == nil { gone.add("gone") }
            }
            await stage.bluez.killDaemon()
            #expect(await gone.take(1) == ["gone"])
            #expect(stage.application.calls.take() == [])
            #expect(stage.application.signals.take() == [])
            #expect(central.scan().isEmpty)
        }
    }

    @Test func severalAdaptersOrNone() async throws {
        let two = EmulatedBlueZ.Configuration(adapters: ["hci0", EmulatedAdapter("hci1", kind: .legacy)])
        try await withEmulatedBlueZ(two) { bluez in
            try await RawApplication.run(on: bluez) { application in
                try await application.export(Stage.objects)
                #expect(await application.register(at: "/org/bluez/hci0") == "ok")
                #expect(await application.register(at: "/org/bluez/hci1") == "ok")
            }
        }
        try await withEmulatedBlueZ(.init(adapters: [])) { bluez in
            #expect(bluez.central(for: Peripheral("Nothing") {}).scan().isEmpty)
        }
    }

    @Test func agentsAreAccepted() async throws {
        try await withEmulatedBlueZ { bluez in
            try await RawApplication.run(on: bluez) { application in
                func agent(_ method: MemberName, _ more: BusValue...) async -> String {
                    let arguments = [BusValue.objectPath("/agent")] + more
                    return await application.call(
                        "org.bluez.AgentManager1",
                        method,
                        arguments,
                        at: "/org/bluez"
                    )
                }
                #expect(await agent("RegisterAgent", .string("NoInputNoOutput")) == "ok")
                #expect(
                    await agent("RegisterAgent", .string(""))
                        == "org.bluez.Error.AlreadyExists: Already Exists"
                )
                #expect(await agent("RequestDefaultAgent") == "ok")
                #expect(await agent("UnregisterAgent") == "ok")
                #expect(await agent("UnregisterAgent") == "org.bluez.Error.DoesNotExist: Does Not Exist")
            }
        }
    }

    @Test func cancelledBeforeItBeginsTheBodyDoesNotRun() async {
        let run = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withEmulatedBlueZ { _ in Issue.record("the body must not begin") }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func nothingIsLeftWhenTheBodyThrows() async throws {
        struct Failure: Error {}
        var address: String?
        await #expect(throws: Failure.self) {
            try await withEmulatedBlueZ { bluez in
                address = bluez.busAddress
                throw Failure()
            }
        }
        let loop = EventLoop()
        let bus = BusAddress.address(try #require(address))
        await #expect(throws: BusError.self) { try await BusConnection.connect(to: bus, on: loop) }
        await loop.stop()
    }
}
