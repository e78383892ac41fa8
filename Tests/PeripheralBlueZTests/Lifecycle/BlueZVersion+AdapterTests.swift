import BusTestSupport
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct BlueZVersionAdapterTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var properties: [(String, BusValue)]
        var version: BlueZVersion
    }

    private static let newer: (String, BusValue) = ("Connectable", .bool(false))
    private static let middle: (String, BusValue) = ("Manufacturer", .uint16(2))

    private static func modalias(_ text: String) -> (String, BusValue) { ("Modalias", .string(text)) }

    static let rows: [Row] = [
        Row(testDescription: "5.66", properties: [modalias("usb:v1D6Bp0246d0542")], version: "5.66"),
        Row(testDescription: "5.82", properties: [modalias("usb:v1D6Bp0246d0552"), newer], version: "5.82"),
        Row(testDescription: "5.87", properties: [modalias("usb:v1D6Bp0246d0557"), newer], version: "5.87"),
        Row(testDescription: "to come", properties: [modalias("usb:v1D6Bp0246d060A")], version: "6.10"),
        Row(testDescription: "silent", properties: [], version: "5.66"),
        Row(testDescription: "silent, from 5.71", properties: [middle], version: "5.71"),
        Row(testDescription: "silent, from 5.79", properties: [middle, newer], version: "5.79"),
        Row(
            testDescription: "a product's own ID",
            properties: [modalias("bluetooth:v05F1p0001d0599"), middle],
            version: "5.71"
        ),
        Row(
            testDescription: "a product's own ID of USB",
            properties: [modalias("usb:v1D6Bp0247d0599")],
            version: "5.66"
        ),
        Row(testDescription: "cut", properties: [modalias("usb:v1D6Bp0246d05")], version: "5.66"),
        Row(testDescription: "too long", properties: [modalias("usb:v1D6Bp0246d05520")], version: "5.66"),
        Row(testDescription: "signed", properties: [modalias("usb:v1D6Bp0246d+552")], version: "5.66"),
        Row(testDescription: "of a wrong type", properties: [("Modalias", .uint16(0x0552))], version: "5.66"),
    ]

    @Test(arguments: rows) func assumesTheOldestThatItMayBe(row: Row) {
        #expect(BlueZVersion(ofAdapter: .properties(row.properties)) == row.version)
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_82, .v5_87])
    func emulatedDaemonTells(version: BlueZVersion) async throws {
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await Stranger.run(on: bluez) { stranger in
                for told in [nil, "5.70"] as [BlueZVersion?] {
                    let watcher = DaemonWatcher(connection: stranger.connection, version: told) { _ in }
                    let adapters = try await watcher.findAdapters(startsDaemon: true)
                    #expect(adapters.map(\.version) == [told ?? version])
                }
            }
        }
    }
}
