import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// Services that a program removes from a registered application, and a second application of the program, as
/// measured with bluetoothd 5.66 and 5.87.
@Suite(.timeLimit(.minutes(1)))
struct RemovedServiceTests {
    private static let objects: [RawObject] = [
        .service("/app/s"),
        .characteristic("/app/s/c", ["read", "notify"], of: "/app/s"),
        .service("/app/t", [("UUID", .string("180f")), ("Primary", .bool(true))]),
        .characteristic("/app/t/c", uuid: "2a19", ["read", "notify"], of: "/app/t"),
    ]
    private static let (first, second): (AttributeHandle, AttributeHandle) = (0x0017, 0x001B)
    private static let serviceChanged: AttributeHandle = 0x000A

    @Test func onlyTheRemovedServiceGoes() async throws {
        try await Stage.run(objects: Self.objects) { stage, central in
            try await central.subscribe(Self.serviceChanged, to: .indication)
            for handle in [Self.first, Self.second] { try await central.subscribe(handle, to: .notification) }
            // bluetoothd removes services only.
            try await stage.application.remove("/app/t/c", ["org.bluez.GattCharacteristic1"])
            try await stage.application.settle()
            #expect(await outcome { try await central.read(Self.second, offset: 0) } == "01")
            try await stage.application.remove("/app/t", ["org.bluez.GattService1"])
            let change = try await central.nextUpdate(of: Self.serviceChanged)
            #expect(change.value == [0x19, 0, 0x1C, 0])
            #expect(await outcome { try await central.read(Self.second, offset: 0) } == "0x01")
            #expect(try await central.discover().services.last?.handles == 0x0015...0x0018)
            // The other service continues with its subscription.
            try await stage.application.announce("/app/s/c", [7])
            #expect(try await central.nextUpdate(of: Self.first).value == [7])
            // Nothing is left of the subscription, and no call is made for it.
            #expect(!stage.application.calls.take().contains { $0.hasPrefix("StopNotify") })
            #expect(await stage.application.unregister() == "ok")
            #expect(try await central.nextUpdate(of: Self.serviceChanged).value == [0x15, 0, 0x18, 0])
        }
    }

    @Test func aSecondApplicationComesAndGoes() async throws {
        try await Stage.run(objects: Array(Self.objects.prefix(2))) { stage, central in
            try await central.subscribe(Self.serviceChanged, to: .indication)
            try await central.subscribe(Self.first, to: .notification)
            let added: [RawObject] = [
                .service("/more/s", [("UUID", .string("180f")), ("Primary", .bool(true))]),
                .characteristic("/more/s/c", uuid: "2a19", ["read"], of: "/more/s"),
            ]
            try await stage.application.export(added, at: "/more")
            #expect(await stage.application.register("/more") == "ok")
            #expect(try await central.nextUpdate(of: Self.serviceChanged).value == [0x19, 0, 0x1B, 0])
            #expect(await outcome { try await central.read(0x001B, offset: 0) } == "01")
            try await stage.application.announce("/app/s/c", [7])
            #expect(try await central.nextUpdate(of: Self.first).value == [7])
            #expect(await stage.application.unregister("/more") == "ok")
            #expect(try await central.nextUpdate(of: Self.serviceChanged).value == [0x19, 0, 0x1B, 0])
        }
    }
}

extension RawApplication {
    /// Announces that an object below the root of the application is gone.
    fileprivate func remove(_ path: ObjectPath, _ interfaces: [String]) async throws {
        try await connection.emit(Self.root, .objectManager, "InterfacesRemoved") { writer in
            writer.append([.objectPath(path), .strings(interfaces)])
        }
    }

    /// Announces a new value of a characteristic.
    fileprivate func announce(_ path: ObjectPath, _ value: [UInt8]) async throws {
        try await connection.emit(path, .properties, "PropertiesChanged") { writer in
            writer.appendChange(of: "Value", of: "org.bluez.GattCharacteristic1", to: value)
        }
    }
}
