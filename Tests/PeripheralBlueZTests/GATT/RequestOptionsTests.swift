import BusTestSupport
import PeripheralDBus
import PeripheralKit
import Synchronization
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct RequestOptionsTests {
    private static let device = BusValue.objectPath("/org/bluez/hci0/dev_C0_FF_EE_00_00_01")

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var options: [(String, BusValue)]
        /// Address, MTU and offset, or nil when the options are refused.
        var outcome: String?
    }

    static let rows: [Row] = [
        Row(
            testDescription: "as bluetoothd sends them",
            options: [
                ("device", device), ("offset", .uint16(5)), ("link", .string("LE")), ("mtu", .uint16(517)),
            ],
            outcome: "C0:FF:EE:00:00:01 517 5"
        ),
        Row(
            testDescription: "without an offset",
            options: [("device", device), ("mtu", .uint16(23))],
            outcome: "C0:FF:EE:00:00:01 23 0"
        ),
        Row(
            testDescription: "without an MTU",
            options: [("device", device)],
            outcome: "C0:FF:EE:00:00:01 23 0"
        ),
        Row(
            testDescription: "with unknown ones",
            options: [
                ("x", .properties([("y", .bytes([1]))])), ("device", device), ("type", .string("request")),
            ],
            outcome: "C0:FF:EE:00:00:01 23 0"
        ),
        Row(
            testDescription: "permission",
            options: [("device", device), ("prepare-authorize", .bool(true))],
            outcome: "C0:FF:EE:00:00:01 23 0 authorize"
        ),
        Row(testDescription: "none", options: [], outcome: nil),
        Row(testDescription: "without a device", options: [("mtu", .uint16(23))], outcome: nil),
        Row(testDescription: "device is a string", options: [("device", .string("/x"))], outcome: nil),
        Row(
            testDescription: "device is no device",
            options: [("device", .objectPath("/org/bluez/hci0"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with too short an address",
            options: [("device", .objectPath("/org/bluez/hci0/dev_C0_FF_EE_00_00_0"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with no address",
            options: [("device", .objectPath("/org/bluez/hci0/dev_XX_FF_EE_00_00_01"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with a separator missing",
            options: [("device", .objectPath("/org/bluez/hci0/dev_C0_FF_EE_00_00001"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with digits for separators",
            options: [("device", .objectPath("/org/bluez/hci0/dev_C0_FF_EE_00000_01"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with small letters",
            options: [("device", .objectPath("/org/bluez/hci0/dev_c0_ff_ee_00_00_01"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with more after the address",
            options: [("device", .objectPath("/org/bluez/hci0/dev_C0_FF_EE_00_00_01/x"))],
            outcome: nil
        ),
        Row(
            testDescription: "device of another kind",
            options: [("device", .objectPath("/org/bluez/hci0/xdev_C0_FF_EE_00_00_01"))],
            outcome: nil
        ),
        Row(
            testDescription: "device without an adapter",
            options: [("device", .objectPath("/dev_C0_FF_EE_00_00_01"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with a short path",
            options: [("device", .objectPath("/"))],
            outcome: nil
        ),
        Row(
            testDescription: "device with every digit",
            options: [("device", .objectPath("/x/dev_01_23_45_67_89_AB"))],
            outcome: "01:23:45:67:89:AB 23 0"
        ),
        Row(
            testDescription: "device with the last digits",
            options: [("device", .objectPath("/x/dev_CD_EF_00_FF_09_AF"))],
            outcome: "CD:EF:00:FF:09:AF 23 0"
        ),
        Row(
            testDescription: "MTU of a wrong type",
            options: [("device", device), ("mtu", .uint32(23))],
            outcome: nil
        ),
        Row(
            testDescription: "offset of a wrong type",
            options: [("device", device), ("offset", .int16(-1))],
            outcome: nil
        ),
        Row(
            testDescription: "permission of a wrong type",
            options: [("device", device), ("prepare-authorize", .uint32(1))],
            outcome: nil
        ),
    ]

    @Test func readsOrRefuses() async throws {
        try await TestBus.run { pair in
            let found = Mutex<String?>(nil)
            try await pair.server.export(
                ExportedObject(
                    "/options",
                    [
                        ExportedInterface(
                            "test.Options",
                            methods: [
                                ExportedMethod("Read", "a{sv}", "") { call, reply in
                                    var arguments = call.arguments
                                    let options = try? RequestOptions(&arguments)
                                    found.withLock { $0 = options?.text }
                                    reply.send()
                                }
                            ]
                        )
                    ]
                )
            )
            for row in Self.rows {
                _ = try await pair.client.call(
                    pair.serverName,
                    "/options",
                    "test.Options",
                    "Read",
                    [.properties(row.options)]
                )
                #expect(found.withLock { $0 } == row.outcome, "\(row.testDescription)")
            }
        }
    }
}

extension RequestOptions {
    fileprivate var text: String {
        "\(address) \(mtu) \(offset)" + (asksForAuthorization ? " authorize" : "")
    }
}
