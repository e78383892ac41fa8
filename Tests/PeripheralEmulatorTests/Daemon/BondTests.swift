import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// The reports of bluetoothd about bonded centrals, as recorded from 5.66.
@Suite(.timeLimit(.minutes(1)))
struct BondTests {
    private static func run(
        _ body: (Stage, VirtualCentral) async throws -> Void
    ) async throws {
        try await Stage.run { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            try await stage.application.settle()
            _ = stage.application.signals.take()
            try await central.pair(.justWorks)
            _ = await stage.application.calls.take(1)
            try await body(stage, central)
        }
    }

    private static func changed(_ central: VirtualCentral, _ properties: String) -> String {
        "PropertiesChanged \(central.path)(s 'org.bluez.Device1', {\(properties)}, [])"
    }

    private static func removed(_ central: VirtualCentral) -> String {
        "InterfacesRemoved /(o \(central.path), [s 'org.freedesktop.DBus.Properties', "
            + "s 'org.freedesktop.DBus.Introspectable', s 'org.bluez.Device1'])"
    }

    private static let notify = Stage.Handle.notify

    @Test func aBondedCentralComesBackAsItWas() async throws {
        try await Self.run { stage, central async throws in
            #expect(
                await stage.application.signals.take(1)
                    == [Self.changed(central, "'Bonded': b true, 'Paired': b true")]
            )
            try await central.subscribe(Self.notify, to: .notification)
            _ = await stage.application.calls.take(1)
            central.disconnect()
            try await central.connect()
            #expect(
                await stage.application.signals.take(3) == [
                    Self.changed(central, "'ServicesResolved': b false, 'Connected': b false"),
                    Self.changed(central, "'Connected': b true"),
                    Self.changed(central, "'ServicesResolved': b true"),
                ]
            )
            #expect(await outcome { try await central.read(Stage.Handle.encrypted, offset: 0) } == "01")
            try await central.subscribe(Self.notify, to: .notification)
            try await stage.application.settle()
            // Neither StopNotify nor StartNotify.
            #expect(
                stage.application.calls.take().map { String($0.prefix { $0 != " " }) } == ["ReadValue"]
            )
            try await stage.application.connection.emitPropertiesChanged(
                "/app/s/notify",
                "org.bluez.GattCharacteristic1",
                [("Value", .bytes([1]))]
            )
            #expect(try await central.nextUpdate(of: Self.notify).value == [1])
        }
    }

    @Test(arguments: [true, false])
    func aRemovedCentralIsForgotten(isConnected: Bool) async throws {
        try await Self.run { stage, central async throws in
            try await central.subscribe(Self.notify, to: .notification)
            _ = await stage.application.calls.take(1)
            if !isConnected { central.disconnect() }
            _ = await stage.application.signals.take(isConnected ? 1 : 2)
            #expect(await stage.application.removeDevice(central) == "ok")
            let gone = Self.changed(central, "'ServicesResolved': b false, 'Connected': b false")
            let expected = (isConnected ? [gone] : []) + [Self.removed(central)]
            #expect(await stage.application.signals.take(expected.count) == expected)
            // The subscription of who is away remains.
            if isConnected {
                #expect(
                    await stage.application.calls.take(1) == ["StopNotify /app/s/notify() NO_REPLY_EXPECTED"]
                )
            }
            try await central.connect()
            #expect(await outcome { try await central.read(Stage.Handle.encrypted, offset: 0) } == "0x0f")
            #expect(await central.outcome(ofPairing: .justWorks) == "ok")
        }
    }

    @Test func unknownCentralsCannotBeRemoved() async throws {
        try await Stage.run { stage, central async throws in
            let stranger = stage.makeCentral()
            #expect(
                await stage.application.removeDevice(stranger)
                    == "org.bluez.Error.DoesNotExist: Does Not Exist"
            )
            await stage.bluez.setPowered(false)
            #expect(
                await stage.application.removeDevice(central)
                    == "org.bluez.Error.NotReady: Resource Not Ready"
            )
        }
    }

    @Test func aCentralCanBeDisconnected() async throws {
        try await Stage.run { stage, central async throws in
            #expect(await stage.application.callDevice("Disconnect", of: central) == "ok")
            #expect(
                await stage.application.callDevice("Disconnect", of: central)
                    == "org.bluez.Error.NotConnected: Not Connected"
            )
        }
    }

    @Test func cancellingAPairingEndsTheConnection() async throws {
        try await Stage.run { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            stage.application.answer("RequestAuthorization", .never)
            async let outcome = central.outcome(ofPairing: .justWorks)
            _ = await stage.application.calls.take(1)
            #expect(
                await stage.application.callDevice("CancelPairing", of: central)
                    == "org.bluez.Error.DoesNotExist: Does Not Exist"
            )
            #expect(await outcome == "disconnected")
        }
    }

    @Test func cancellingNoPairingRemovesTheBond() async throws {
        try await Self.run { stage, central async throws in
            #expect(
                await stage.application.callDevice("CancelPairing", of: central)
                    == "org.bluez.Error.DoesNotExist: Does Not Exist"
            )
            try await central.connect()
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.read(Stage.Handle.encrypted, offset: 0)
            }
        }
    }

    @Test func aCentralThatIsOnlyPairedIsForgotten() async throws {
        try await Stage.run { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            var user = PairingUser.justWorks
            user.isBonding = false
            #expect(await central.outcome(ofPairing: user) == "ok")
            central.disconnect()
            let signals = await stage.application.signals.take(8)
            let gone = "'ServicesResolved': b false, 'Paired': b false, 'Connected': b false"
            #expect(
                signals.suffix(2) == [Self.changed(central, "'Paired': b true"), Self.changed(central, gone)]
            )
        }
    }

    @Test func aCentralShowsItsLastingAddressWhenItBonds() async throws {
        try await Stage.run { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            var user = PairingUser.justWorks
            user.identityAddress = DeviceAddress("00:1B:DC:00:00:07")
            #expect(await central.outcome(ofPairing: user) == "ok")
            #expect(
                await stage.application.signals.take(8).suffix(2) == [
                    Self.changed(
                        central,
                        "'Address': s '00:1B:DC:00:00:07', 'AddressType': s 'public'"
                    ),
                    Self.changed(central, "'Bonded': b true, 'Paired': b true"),
                ]
            )
            central.disconnect()
            try await central.connect()
            _ = await stage.application.signals.take(3)
            let answer = try await stage.application.connection.call(
                "org.bluez",
                central.path,
                .properties,
                "GetAll",
                [.string("org.bluez.Device1")]
            )
            let text = try #require(answer.first?.text)
            #expect(text.contains("'Address': s '00:1B:DC:00:00:07'"))
        }
    }

    @Test func bondedCentralsAreThereAfterARestart() async throws {
        try await Self.run { stage, central async throws in
            try await stage.bluez.restartDaemon()
            let answer = try await stage.application.connection.call(
                "org.bluez",
                central.path,
                .properties,
                "GetAll",
                [.string("org.bluez.Device1")]
            )
            let text = try #require(answer.first?.text)
            for property in ["'Paired': b true", "'Bonded': b true", "'Connected': b false"] {
                #expect(text.contains(property))
            }
        }
    }
}
