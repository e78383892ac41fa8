import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// Pinned handles, includes and secondary services, as recorded of bluetoothd 5.66 and 5.87.
@Suite(.timeLimit(.minutes(1)))
struct HandleTests {
    private static func service(
        _ path: ObjectPath,
        handle: UInt16? = nil,
        isPrimary: Bool = true,
        includes: [ObjectPath] = []
    ) -> RawObject {
        var properties: [(String, BusValue)] = [("UUID", .string("180d")), ("Primary", .bool(isPrimary))]
        if let handle { properties.append(("Handle", .uint16(handle))) }
        if !includes.isEmpty { properties.append(("Includes", .objectPaths(includes))) }
        return .service(path, properties)
    }

    private static func characteristic(_ path: ObjectPath, handle: UInt16?, of service: ObjectPath)
        -> RawObject
    {
        let more: [(String, BusValue)] = handle.map { [("Handle", .uint16($0))] } ?? []
        return .characteristic(path, ["read", "notify"], of: service, more: more)
    }

    struct Pins: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var objects: [RawObject]
        var version = BlueZVersion.v5_66
        /// Where the services stand; `nil` when the application is refused.
        var handles: [ClosedRange<AttributeHandle>]?
    }

    static let pins = [
        Pins(
            testDescription: "a pinned service, and one behind it",
            objects: [
                service("/app/s", handle: 0x0200), characteristic("/app/s/c", handle: nil, of: "/app/s"),
                service("/app/t"),
            ],
            handles: [0x0200...0x0203, 0x0204...0x0204]
        ),
        Pins(
            testDescription: "in descending order",
            objects: [service("/app/s", handle: 0x0200), service("/app/t", handle: 0x0100)],
            handles: [0x0100...0x0100, 0x0200...0x0200]
        ),
        Pins(
            testDescription: "a characteristic where it would be",
            objects: [
                service("/app/s", handle: 0x0200), characteristic("/app/s/c", handle: 0x0202, of: "/app/s"),
            ],
            handles: [0x0200...0x0203]
        ),
        Pins(
            testDescription: "the same handle twice",
            objects: [service("/app/s", handle: 0x0200), service("/app/t", handle: 0x0200)]
        ),
        Pins(
            testDescription: "a handle of the stack",
            objects: [service("/app/s", handle: 0x0003)]
        ),
        Pins(
            testDescription: "a gap",
            objects: [
                service("/app/s", handle: 0x0200), characteristic("/app/s/c", handle: 0x0203, of: "/app/s"),
            ],
            version: .v5_87
        ),
        Pins(
            testDescription: "a characteristic in a service that is not pinned",
            objects: [service("/app/s"), characteristic("/app/s/c", handle: 0x0017, of: "/app/s")]
        ),
        Pins(
            testDescription: "beyond the last handle",
            objects: [
                service("/app/s", handle: 0xFFFE), characteristic("/app/s/c", handle: nil, of: "/app/s"),
            ]
        ),
        Pins(
            testDescription: "a characteristic that asks, in 5.75",
            objects: [service("/app/s"), characteristic("/app/s/c", handle: 0, of: "/app/s")],
            version: BlueZVersion(major: 5, minor: 75)
        ),
    ]

    @Test(arguments: pins) func pinnedHandlesAreHonouredOrRefused(_ pins: Pins) async throws {
        try await withEmulatedBlueZ(.init(version: pins.version)) { bluez in
            try await RawApplication.run(on: bluez) { application async throws in
                try await application.export(pins.objects)
                try await application.exportAdvertisement([("Type", .string("peripheral"))])
                let outcome = await application.register()
                guard let expected = pins.handles else {
                    let refusal = "org.bluez.Error.Failed: Failed to create entry in database"
                    return #expect(outcome == refusal)
                }
                #expect(outcome == "ok")
                #expect(await application.advertise() == "ok")
                let central = bluez.central(for: Peripheral("Pinned") {})
                try await central.connect()
                let services = try await central.discover().services
                #expect(services.suffix(expected.count).map(\.handles) == expected)
            }
        }
    }

    @Test func whoAsksIsToldInSpiteOfGaps() async throws {
        try await withEmulatedBlueZ { bluez in
            try await RawApplication.run(on: bluez) { application async throws in
                try await application.export([
                    Self.service("/app/s", handle: 0x0200),
                    Self.characteristic("/app/s/c", handle: 0, of: "/app/s"),
                    Self.service("/app/t", handle: 0),
                ])
                #expect(await application.register() == "ok")
                try await application.settle()
                #expect(
                    application.calls.take().dropFirst() == [
                        "Set /app/s/c(s 'org.bluez.GattCharacteristic1', s 'Handle', q 514)",
                        "Set /app/t(s 'org.bluez.GattService1', s 'Handle', q 516)",
                    ]
                )
            }
        }
    }

    /// bluetoothd places the services before the refused one, reports their handles, and removes them.
    @Test func whoAsksIsToldUpToTheServiceThatIsRefused() async throws {
        try await withEmulatedBlueZ { bluez in
            try await RawApplication.run(on: bluez) { application async throws in
                try await application.export([
                    Self.service("/app/s", handle: 0x0200),
                    Self.characteristic("/app/s/c", handle: 0, of: "/app/s"),
                    Self.service("/app/t", handle: 0x0001),
                    Self.characteristic("/app/t/c", handle: 0, of: "/app/t"),
                ])
                let refusal = "org.bluez.Error.Failed: Failed to create entry in database"
                #expect(await application.register() == refusal)
                try await application.settle()
                #expect(
                    application.calls.take().dropFirst() == [
                        "Set /app/s/c(s 'org.bluez.GattCharacteristic1', s 'Handle', q 514)"
                    ]
                )
                try await application.exportAdvertisement([("Type", .string("peripheral"))])
                #expect(await application.advertise() == "ok")
                let central = bluez.central(for: Peripheral("Refused") {})
                try await central.connect()
                #expect(try await central.discover().services.allSatisfy { $0.handles.lowerBound < 0x0200 })
            }
        }
    }

    @Test func secondaryServicesAreIncluded() async throws {
        let objects = [
            Self.service("/app/s", isPrimary: false), Self.service("/app/t", includes: ["/app/s"]),
            Self.characteristic("/app/t/c", handle: nil, of: "/app/t"),
        ]
        try await Stage.run(objects: objects) { _, central async throws in
            let services = try await central.discover().services.suffix(2)
            #expect(services.map(\.isPrimary) == [false, true])
            #expect(services.map(\.includedServices) == [[], [0x0015]])
            #expect(services.last?.characteristics.first?.valueHandle == 0x0019)
            // Handles, and the type, which has 16 bits.
            #expect(try await central.read(0x0017, offset: 0) == [0x15, 0, 0x15, 0, 0x0D, 0x18])
        }
    }
}
