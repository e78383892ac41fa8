import PeripheralBlueZ
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What bluetoothd makes of handles that several programs request, as seen on 5.66 and 5.87.
@Suite(.timeLimit(.minutes(1)))
struct ForeignServiceTests {
    /// A service at a handle, with values that are read.
    private static func objects(at handle: UInt16, values: [ObjectPath]) -> [RawObject] {
        let properties: [(String, BusValue)] = [
            ("UUID", .string("180f")), ("Primary", .bool(true)), ("Handle", .uint16(handle)),
        ]
        return [.service("/app/s", properties)] + values.map { .characteristic($0, ["read"], of: "/app/s") }
    }

    /// The handles of the services of both programs, after the second has tried to register.
    private func handles(
        first: [RawObject],
        second: [RawObject],
        outcome: String,
        _ body: (EmulatedBlueZ) async throws -> Void = { _ in }
    ) async throws -> [ClosedRange<AttributeHandle>] {
        var found: [ClosedRange<AttributeHandle>] = []
        try await withEmulatedBlueZ { bluez in
            try await RawApplication.run(on: bluez) { one async throws in
                try await one.export(first)
                try await one.exportAdvertisement([("Type", .string("peripheral"))])
                #expect(await one.register() == "ok")
                #expect(await one.advertise() == "ok")
                try await RawApplication.run(on: bluez) { other async throws in
                    try await other.export(second)
                    #expect(await other.register() == outcome)
                    let central = bluez.central(for: Peripheral("Both") {})
                    try await central.connect()
                    found = try await central.discover().applicationServices.map(\.handles)
                }
            }
            try await body(bluez)
        }
        return found
    }

    private static let refusal = "org.bluez.Error.Failed: Failed to create entry in database"

    @Test func anEqualServiceOfAnotherProgramIsRemoved() async throws {
        let objects = Self.objects(at: 0x0100, values: ["/app/s/c"])
        let handles = try await handles(first: objects, second: objects, outcome: Self.refusal) { bluez in
            // It crashes when the first program ends.
            try await until {
                do {
                    try await Peripheral("After") {}.run(on: bluez.backend(recovery: .never), logger: .silent)
                    { _ in }
                    return false
                } catch {
                    return true
                }
            }
        }
        #expect(handles == [])
    }

    @Test func aServiceThatEnclosesAnotherIsTaken() async throws {
        let values = (0..<10).map { ObjectPath(unchecked: "/app/s/c\($0)") }
        let handles = try await handles(
            first: Self.objects(at: 0x0108, values: ["/app/s/c"]),
            second: Self.objects(at: 0x0100, values: values),
            outcome: "ok"
        )
        #expect(handles == [0x0100...0x0114, 0x0108...0x010A])
    }

    @Test(arguments: [0x00FF, 0x0101, 0x0102] as [UInt16])
    func aServiceWithAnEndInAnotherIsRefused(handle: UInt16) async throws {
        let handles = try await handles(
            first: Self.objects(at: 0x0100, values: ["/app/s/c"]),
            second: Self.objects(at: handle, values: ["/app/s/c"]),
            outcome: Self.refusal
        )
        #expect(handles == [0x0100...0x0102])
    }
}
