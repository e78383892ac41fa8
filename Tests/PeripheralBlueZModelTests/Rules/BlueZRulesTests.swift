import PeripheralBlueZModel
import PeripheralCore
import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BlueZRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var peripheral: Peripheral
        /// The versions, of those in `all`, for which the issue is reported.
        var versions: [BlueZVersion] = Self.all
        /// How the reason of an issue begins that another row is about.
        var others: String?
        var severity = DeclarationIssue.Severity.warning
        var element = "characteristic 2a19 of service 180f"
        /// How the reason and the remedy begin.
        var reason: String
        var remedy: String

        static let all: [BlueZVersion] = ["5.66", "5.72", "5.73", "5.74", "5.75", "5.76", "5.81", "5.87"]
    }

    private static func peripheral(
        _ properties: CharacteristicProperties,
        security: AttributeSecurity = .open,
        length: ValueLength = .any,
        service: BluetoothUUID = 0x180F,
        handle: AttributeHandle? = 0x0100
    ) -> Peripheral {
        Peripheral("P", pairing: .justWorks) {
            GATTService(service, handle: handle) {
                Characteristic<UInt8>(0x2A19, properties, security: security, length: length) {
                    if properties.contains(.read) { Read { 1 } }
                    if properties.canWrite { Write { _ in } }
                }
            }
        }
    }

    private static let crash = "BlueZ from 5.80 on can crash if a subscriber unsubscribes before it confirms"

    static let rows: [Row] = [
        Row(
            testDescription: "broadcast",
            peripheral: peripheral([.read, .broadcast]),
            reason: "BlueZ shows centrals the broadcast property, but does not broadcast the value",
            remedy: "remove .broadcast"
        ),
        Row(
            testDescription: "signed writes",
            peripheral: peripheral([.read, .authenticatedSignedWrites]),
            versions: ["5.66", "5.72"],
            reason: "BlueZ before 5.73 drops signed writes",
            remedy: "use BlueZ 5.73 or later"
        ),
        Row(
            testDescription: "secured writes without response",
            peripheral: peripheral(.writeWithoutResponse, security: .encrypted),
            reason: "BlueZ also offers .write if writes require security",
            remedy: "replace .writeWithoutResponse with .write"
        ),
        Row(
            testDescription: "both kinds of updates",
            peripheral: peripheral([.notify, .indicate]),
            others: crash,
            reason: "BlueZ does not report which of the two a central has subscribed to",
            remedy: "declare only one of .notify and .indicate if confirmations matter"
        ),
        Row(
            testDescription: "secured updates",
            peripheral: peripheral([.read, .notify], security: .encrypted),
            versions: ["5.66", "5.72", "5.73", "5.74", "5.75"],
            reason: "BlueZ before 5.76 sends each value to all subscribers",
            remedy: "use BlueZ 5.76 or later"
        ),
        Row(
            testDescription: "a control point",
            peripheral: peripheral([.write, .indicate]),
            versions: ["5.66", "5.72", "5.73", "5.74", "5.75", "5.76"],
            others: crash,
            reason: "BlueZ before 5.80 sends each indication to all subscribers",
            remedy: "use BlueZ 5.80 or later"
        ),
        Row(
            testDescription: "a control point that can be read",
            peripheral: peripheral([.read, .write, .indicate]),
            versions: ["5.66", "5.72", "5.73", "5.74", "5.75", "5.76"],
            others: crash,
            reason: "BlueZ before 5.80 sends each indication to all subscribers",
            remedy: "use BlueZ 5.80 or later"
        ),
        Row(
            testDescription: "indications without pairing",
            peripheral: peripheral(.indicate),
            versions: ["5.81", "5.87"],
            reason: crash,
            remedy: "require pairing"
        ),
        Row(
            testDescription: "long values",
            peripheral: peripheral(.write, length: .upTo(511)),
            versions: ["5.66"],
            reason: "BlueZ before 5.69 refuses written values of 511 and 512 bytes",
            remedy: "use BlueZ 5.69 or later"
        ),
        Row(
            testDescription: "values that are just short enough",
            peripheral: peripheral(.write, length: .upTo(510)),
            versions: [],
            reason: "",
            remedy: ""
        ),
        Row(
            testDescription: "long values that centrals only read",
            peripheral: peripheral(.read, length: .within(1...512)),
            versions: [],
            reason: "",
            remedy: ""
        ),
        Row(
            testDescription: "device information",
            peripheral: peripheral(.read, service: 0x180A),
            element: "service 180a",
            reason: "BlueZ publishes its own Device Information service",
            remedy: "set DeviceID = false"
        ),
        Row(
            testDescription: "a service that is not pinned",
            peripheral: peripheral(.read, handle: nil),
            versions: ["5.74", "5.75"],
            severity: .error,
            element: "service 180f",
            reason: "BlueZ 5.7",
            remedy: "pin the service"
        ),
        Row(
            testDescription: "a handle of BlueZ",
            peripheral: peripheral(.read, handle: 0x0012),
            severity: .error,
            element: "service 180f",
            reason: "BlueZ's own services use the handles up to 0x001",
            remedy: "pin the service at 0x0100 or higher"
        ),
        Row(
            testDescription: "a handle of older versions",
            peripheral: peripheral(.read, handle: 0x0013),
            versions: ["5.66", "5.72", "5.73", "5.74", "5.75", "5.76"],
            severity: .error,
            element: "service 180f",
            reason: "BlueZ's own services use the handles up to 0x0014",
            remedy: "pin the service at 0x0100 or higher"
        ),
        Row(
            testDescription: "a handle of the claims",
            peripheral: peripheral(.read, handle: 0x00FF),
            severity: .error,
            element: "service 180f",
            reason: "programs that use this framework reserve their handles",
            remedy: "pin the service at 0x0100 or higher"
        ),
        Row(
            testDescription: "a handle beyond the hash",
            peripheral: peripheral(.read, handle: 0x03FE),
            element: "service 180f",
            reason: "it uses handles above 0x03ff",
            remedy: "pin the service at a lower handle"
        ),
    ]

    @Test(arguments: Row.all)
    func largeDataHasOneIssueForEachKindOfAdapter(version: BlueZVersion) {
        let advertisement = Advertisement(
            services: [],
            manufacturerData: [0xFFFF: Array(repeating: 0, count: 40)]
        )
        let issues = Peripheral("P") { advertisement }.validate(for: .bluez(version))
        // Before 5.76, BlueZ uses extended advertising only for a secondary channel.
        let isExtended = version >= "5.76"
        #expect(
            issues.map { "\($0.severity): \($0.element)" }
                == (isExtended
                    ? [
                        "warning: manufacturer data 0xffff of the advertisement",
                        "warning: data of the advertisement",
                    ] : ["error: manufacturer data 0xffff of the advertisement"])
        )
    }

    @Test(arguments: rows, Row.all)
    func theVersionDecides(row: Row, version: BlueZVersion) throws {
        let issues = row.peripheral.validate(for: .bluez(version)).filter { issue in
            row.others.map { !issue.reason.hasPrefix($0) } ?? true
        }
        guard row.versions.contains(version) else {
            #expect(issues == [])
            return
        }
        #expect(issues.count == 1)
        let issue = try #require(issues.first)
        #expect(issue.severity == row.severity)
        #expect(issue.element == row.element)
        #expect(issue.reason.hasPrefix(row.reason))
        #expect(issue.remedy.hasPrefix(row.remedy))
    }

    /// Each rule about a characteristic, with a version that has the rule.
    @Test(
        arguments: [
            ([.read, .broadcast], .open), ([.read, .authenticatedSignedWrites], .open),
            (.writeWithoutResponse, .encrypted), ([.notify, .indicate], .open),
        ] as [(CharacteristicProperties, AttributeSecurity)]
    )
    func theUserDescriptionNamesTheCharacteristic(
        properties: CharacteristicProperties,
        security: AttributeSecurity
    ) {
        let peripheral = Peripheral("P", pairing: .justWorks) {
            GATTService(0x181A, handle: 0x0100) {
                Characteristic<UInt8>(0x2A6F, value: 1) { UserDescription("Air") }
                Characteristic<UInt8>(0x2A6E, properties, security: security) {
                    if properties.contains(.read) { Read { 1 } }
                    if properties.canWrite { Write { _ in } }
                    UserDescription("Soil")
                }
            }
        }
        let elements = peripheral.validate(for: .bluez("5.66")).map(\.element)
        #expect(elements == ["characteristic 2a6e \"Soil\" of service 181a"])
    }

    /// Handles that BlueZ chooses can also pass the end of the hash.
    @Test(arguments: [(502, false), (503, true)])
    func aLargePeripheralPassesTheHash(count: Int, isReported: Bool) {
        // A service, a declaration and a value for each characteristic, behind the 18 handles of BlueZ.
        let peripheral = Peripheral("P") {
            GATTService(0x180F) {
                for number in 0..<count {
                    Characteristic<UInt8>(BluetoothUUID(UInt16(0xA000 + number)), value: 1)
                }
            }
        }
        let issues = peripheral.validate(for: .bluez("5.87"))
        #expect(issues.map(\.element) == (isReported ? ["peripheral"] : []))
        #expect(issues.allSatisfy { $0.severity == .warning && $0.reason.contains("above 0x03ff") })
    }

    /// The two do not meet in a table that begins at 0x0001, but do behind BlueZ's own services.
    @Test func servicesMayMeetBehindThoseOfBlueZ() {
        let peripheral = Peripheral("P") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            GATTService(0x180D, handle: 0x0015) { Characteristic<UInt8>(0x2A38, value: 1) }
        }
        #expect(peripheral.validate() == [])
        for version: BlueZVersion in ["5.66", "5.87"] {
            let issues = peripheral.validate(for: .bluez(version))
            #expect(issues.map(\.severity) == [.error])
            #expect(issues.map(\.element) == ["peripheral"])
        }
    }

    @Test(arguments: ["4.101", "5.65"] as [BlueZVersion])
    func olderVersionsAreRefused(version: BlueZVersion) {
        let issues = Self.peripheral([.notify, .indicate]).validate(for: .bluez(version))
        #expect(
            issues.map(\.description) == [
                "error: peripheral: BlueZ \(version) is not supported; use BlueZ 5.66 or later"
            ]
        )
    }

    @Test(
        arguments: [
            ("5.66", [.error], "BlueZ 5.66 accepts only the name there"),
            ("5.79", [.error], "BlueZ 5.79 accepts only the name there"),
            ("5.80", [], nil),
        ] as [(BlueZVersion, [DeclarationIssue.Severity], String?)]
    )
    func scanResponseNeedsItsVersion(
        version: BlueZVersion,
        severities: [DeclarationIssue.Severity],
        reason: String?
    ) {
        let peripheral = Peripheral("P") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(scanResponse: .init(services: [0x180F]))
        }
        let issues = peripheral.validate(for: .bluez(version))
        #expect(issues.map(\.severity) == severities)
        #expect(issues.first?.element == reason.map { _ in "scan response of the advertisement" })
        #expect(issues.first?.reason == reason)
    }

    @Test(
        arguments: [
            ("5.66", .error), ("5.75", .error), ("5.76", .warning), ("5.87", .warning),
        ] as [(BlueZVersion, DeclarationIssue.Severity)]
    )
    func whatIsTooLongForSome(version: BlueZVersion, severity: DeclarationIssue.Severity) {
        let peripheral = Peripheral("P") {
            GATTService(0x180F, handle: 0x0100) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(services: [], manufacturerData: [1: [UInt8](repeating: 0, count: 25)])
        }
        // That Bluetooth 4 has no room.
        let warnings = peripheral.validate()
        #expect(warnings.map(\.severity) == [.warning])
        let issues = peripheral.validate(for: .bluez(version))
        // The error says the same, for all adapters.
        #expect(issues.dropLast() == (severity == .error ? [] : warnings[...]))
        #expect(issues.last?.severity == severity)
    }

    @Test func errorsOfTheDeclarationComeAlone() {
        let peripheral = Self.peripheral([.notify, .indicate], handle: 0x0000)
        #expect(!peripheral.validate().isEmpty)
        #expect(peripheral.validate(for: .bluez("5.66")) == peripheral.validate())
    }

    @Test func warningsOfTheDeclarationComeFirst() {
        let own: BluetoothUUID = "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001"
        let peripheral = Peripheral("P") {
            GATTService(0x180F, handle: 0x0100) {
                Characteristic<UInt8>(own, [.write, .writeWithoutResponse, .broadcast]) { Write { _ in } }
            }
        }
        let issues = peripheral.validate(for: .bluez("5.87"))
        #expect(issues.count == 2)
        #expect(issues.first == peripheral.validate().first)
    }

    @Test(arguments: Row.all)
    func anOrdinaryPeripheralIsSound(version: BlueZVersion) {
        let peripheral = Peripheral("Lamp", pairing: .displayPasskey { _, _ in }) {
            GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001", handle: 0x0100) {
                Characteristic<Bool>(0x2A56, [.read, .write, .notify], security: .authenticated) {
                    Read { true }
                    Write { _ in }
                    Authorization { true }
                    UserDescription("Power")
                    PresentationFormat(.boolean)
                }
                Characteristic<[UInt8]>(0x2A57, .writeWithoutResponse) { Write { _ in } }
                Characteristic<[UInt8]>(0x2A58, .indicate, security: .encrypted)
            }
        }
        // Before 5.76, the updates that require security are an issue of their own.
        let issues = peripheral.validate(for: .bluez(version)).filter {
            !$0.reason.contains("to all subscribers")
        }
        #expect(issues == [])
    }
}

extension BlueZRulesTests {
    /// A peripheral with many characteristics has one warning for all of them, not one for each.
    @Test func characteristicsWithTheSameIssueShareAWarning() {
        let peripheral = Peripheral("Lamp", pairing: .justWorks) {
            GATTService(0x181A, handle: 0x0100) {
                Characteristic<UInt8>(0x2A6E, .notify, security: .encrypted)
                Characteristic<UInt8>(0x2A6D, .notify)
                Characteristic<UInt8>(0x2A6F, [.notify, .broadcast], security: .encrypted) {
                    UserDescription("Soil")
                }
            }
            GATTService(0x180F, handle: 0x0200) {
                Characteristic<UInt8>(0x2A19, .notify, security: .encrypted)
            }
        }
        let issues = peripheral.validate(for: .bluez("5.66"))
        #expect(issues.count == 2)
        #expect(
            issues.first?.element
                == "characteristic 2a6e of service 181a, characteristic 2a6f \"Soil\" of service 181a, "
                + "characteristic 2a19 of service 180f"
        )
        #expect(
            issues.first?.reason.hasPrefix("BlueZ before 5.76 sends each value to all subscribers") == true
        )
        #expect(issues.last?.element == "characteristic 2a6f \"Soil\" of service 181a")
    }
}
