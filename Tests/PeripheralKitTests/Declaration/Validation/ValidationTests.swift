import PeripheralKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ValidationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var peripheral: Peripheral
        var severity = DeclarationIssue.Severity.error
        var element: String
        var reason: String
        var remedy: String
    }

    private static let ownUUID: BluetoothUUID = "5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001"

    /// A case about one characteristic of the battery service.
    static func about<Value>(
        _ name: String,
        _ characteristic: Characteristic<Value>,
        severity: DeclarationIssue.Severity = .error,
        description: String? = nil,
        descriptor: String? = nil,
        _ reason: String,
        _ remedy: String
    ) -> Case {
        let quotation = description.map { " \"\($0)\"" } ?? ""
        let element = "characteristic \(characteristic.uuid)\(quotation) of service 180f"
        return Case(
            testDescription: name,
            peripheral: Peripheral("P") { GATTService(0x180F) { characteristic } },
            severity: severity,
            element: descriptor.map { "descriptor \($0) of \(element)" } ?? element,
            reason: reason,
            remedy: remedy
        )
    }

    static let properties: [Case] = [
        about(
            "no property",
            Characteristic<UInt8>(0x2A19, []),
            "no central can use it",
            "give it a property such as .read, .write or .notify"
        ),
        about(
            "readable without a value",
            Characteristic<UInt8>(0x2A19, .read),
            "it is readable but has no value",
            "add Read { … } or a value"
        ),
        about(
            "a value that cannot be read",
            Characteristic<UInt8>(0x2A19, .notify) { Read { 1 } },
            "it has a value to read but is not readable",
            "add the property .read"
        ),
        about(
            "writable without a handler",
            Characteristic<UInt8>(0x2A19, .write),
            "it is writable but nothing takes the value",
            "add Write { … }, WriteStream() or ControlPoint { … }"
        ),
        about(
            "commands without a handler",
            Characteristic<UInt8>(0x2A19, .writeWithoutResponse),
            "it is writable but nothing takes the value",
            "add Write { … }, WriteStream() or ControlPoint { … }"
        ),
        about(
            "a handler of writes that cannot be written",
            Characteristic<UInt8>(0x2A19, value: 1) { Write { _ in } },
            "it takes writes but is not writable",
            "add the property .write or .writeWithoutResponse"
        ),
        about(
            "both kinds of writes",
            Characteristic<UInt8>(ownUUID, [.write, .writeWithoutResponse]) { Write { _ in } },
            severity: .warning,
            "a refused write can go unnoticed: centrals can write with or without response",
            "declare two characteristics if centrals must learn of errors"
        ),
    ]

    static let values: [Case] = [
        about(
            "two values",
            Characteristic<UInt8>(0x2A19, value: 1) { Read { 2 } },
            "its value comes from more than one place",
            "keep one Read or the value"
        ),
        about(
            "two handlers of writes",
            Characteristic<UInt8>(0x2A19, .write) {
                Write { _ in }
                Write { _ in }
            },
            "its writes go to more than one place",
            "keep one Write or WriteStream"
        ),
        about(
            "a handler of writes and a stream",
            Characteristic<UInt8>(0x2A19, .write) {
                Write { _ in }
                WriteStream()
            },
            "its writes go to more than one place",
            "keep one Write or WriteStream"
        ),
        about(
            "a control point that takes commands",
            Characteristic<UInt8>(0x2A19, [.writeWithoutResponse, .indicate]) {
                ControlPoint { (request: UInt8) in request }
            },
            "a control point answers each request",
            "give it the property .write, and not .writeWithoutResponse"
        ),
        about(
            "a control point without a way for responses",
            Characteristic<UInt8>(0x2A19, .write) { ControlPoint { (request: UInt8) in request } },
            "a control point sends its responses in only one way",
            "give it the property .indicate or .notify, but not both"
        ),
        about(
            "a control point that does not respond to those who subscribe",
            Characteristic<UInt8>(0x2A19, [.write, .indicate]) {
                ControlPoint(performWithoutResponse: { (_: UInt8, _, _) in })
            },
            "a control point without responses sends nothing",
            "leave out the properties .notify and .indicate"
        ),
        about(
            "a control point with two ways for responses",
            Characteristic<UInt8>(0x2A19, [.write, .notify, .indicate]) {
                ControlPoint { (request: UInt8) in request }
            },
            "a control point sends its responses in only one way",
            "give it the property .indicate or .notify, but not both"
        ),
        about(
            "a value of 513 bytes",
            Characteristic<[UInt8]>(0x2A19, value: [UInt8](repeating: 0, count: 513)),
            "its value has 513 bytes",
            "split the value: an attribute holds at most 512 bytes"
        ),
        about(
            "a value of another length",
            Characteristic<UInt16>(0x2A19, value: 1, length: .exactly(1)),
            "its value has 2 bytes, but must have exactly 1 byte",
            "change the value, or the length"
        ),
        about(
            "a length of 513 bytes",
            Characteristic<[UInt8]>(0x2A19, .write, length: .upTo(513)) { Write { _ in } },
            "its declared length is at most 513 bytes",
            "declare a length within 0 to 512 bytes"
        ),
        about(
            "a length below zero",
            Characteristic<[UInt8]>(0x2A19, .write, length: .exactly(-1)) { Write { _ in } },
            "its declared length is exactly -1 bytes",
            "declare a length within 0 to 512 bytes"
        ),
        about(
            "a queue without room",
            Characteristic<UInt8>(0x2A19, .notify, updates: .reject(beyond: 0)),
            "its UpdatePolicy has no room for any update",
            "give it room for at least 1 value and 1 byte"
        ),
        about(
            "a policy for updates that there are not",
            Characteristic<UInt8>(0x2A19, .read, updates: .latest) { Read { 1 } },
            "it has an UpdatePolicy but sends no updates",
            "add the property .notify or .indicate, or leave out the UpdatePolicy"
        ),
        about(
            "two authorizations",
            Characteristic<UInt8>(0x2A19, value: 1) {
                Authorization { true }
                Authorization { _ in true }
            },
            "it has more than one authorization",
            "keep one Authorization"
        ),
        about(
            "an authorization of nothing",
            Characteristic<UInt8>(0x2A19, .notify) { Authorization { true } },
            "its Authorization applies to reads and writes, but it allows neither",
            "leave out the Authorization, or require security of the link for subscribers"
        ),
        about(
            "a descriptor of 513 bytes",
            Characteristic<UInt8>(0x2A19, value: 1) { UserDescription(String(repeating: "x", count: 513)) },
            description: String(repeating: "x", count: 40) + "…",
            descriptor: "2901",
            "its value has 513 bytes",
            "split the value: an attribute holds at most 512 bytes"
        ),
        about(
            "a descriptor without access",
            Characteristic<UInt8>(0x2A19, value: 1) { Descriptor<UInt8>(0x2906) {} },
            descriptor: "2906",
            "it can neither be read nor written",
            "add Read { … }, Write { … } or a value"
        ),
        about(
            "a descriptor twice",
            Characteristic<UInt8>(0x2A19, value: 1) {
                UserDescription("One")
                UserDescription("Two")
            },
            description: "One",
            descriptor: "2901",
            "it is declared more than once",
            "declare each descriptor type once in a characteristic"
        ),
    ]

    static let stackTypes: [Case] =
        ([
            (0x2900, "the properties .reliableWrite and .writableAuxiliaries add it"),
            (0x2902, "the properties .notify and .indicate add it"),
            (0x2903, "to broadcast data, use the serviceData of the Advertisement"),
        ] as [(UInt16, String)]).map { number, instead in
            about(
                "descriptor \(BluetoothUUID(number))",
                Characteristic<UInt8>(0x2A19, value: 1) {
                    Descriptor<[UInt8]>(BluetoothUUID(number), value: [0, 0])
                },
                descriptor: "\(BluetoothUUID(number))",
                "this descriptor belongs to the Bluetooth stack",
                "leave it out: \(instead)"
            )
        }
        + ([0x1800, 0x1801] as [UInt16]).map { number in
            Case(
                testDescription: "service \(BluetoothUUID(number))",
                peripheral: Peripheral("P") {
                    GATTService(BluetoothUUID(number)) { Characteristic<UInt8>(0x2A19, value: 1) }
                },
                element: "service \(BluetoothUUID(number))",
                reason: "the Generic Access and Generic Attribute services belong to the Bluetooth stack",
                remedy: "leave them out: the stack publishes them"
            )
        }
        + ([0x2800, 0x2801, 0x2802, 0x2803] as [UInt16]).map { number in
            about(
                "characteristic \(BluetoothUUID(number))",
                Characteristic<UInt8>(BluetoothUUID(number), value: 1),
                "this UUID denotes a declaration",
                "use the UUID of the element's own type"
            )
        }

    private static let battery = GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
    private static let repeated = Characteristic<UInt8>(0x2A19, value: 1)

    static let peripherals: [Case] = [
        Case(
            testDescription: "no name",
            peripheral: Peripheral("") { battery },
            element: "name of the peripheral",
            reason: "it has 0 bytes",
            remedy: "use 1 to 248 bytes of UTF-8"
        ),
        Case(
            testDescription: "a name of 249 bytes",
            peripheral: Peripheral("é" + String(repeating: "x", count: 247)) { battery },
            element: "name of the peripheral",
            reason: "it has 249 bytes",
            remedy: "use 1 to 248 bytes of UTF-8"
        ),
        Case(
            testDescription: "no service",
            peripheral: Peripheral("P") {},
            element: "peripheral",
            reason: "it has no services, and an advertisement without data",
            remedy: "declare at least one GATTService, or an Advertisement with data, such as a beacon"
        ),
        Case(
            testDescription: "no service beside an advertisement without data",
            peripheral: Peripheral("P") {
                Advertisement(.broadcast, manufacturerData: [0xFFFF: [1]])
                Advertisement(services: [0x180F])
            },
            element: "peripheral",
            reason: "it has no services, and an advertisement without data",
            remedy: "declare at least one GATTService, or an Advertisement with data, such as a beacon"
        ),
        Case(
            testDescription: "one characteristic in two places",
            peripheral: Peripheral("P") {
                GATTService(0x180F) { repeated }
                GATTService(0x180A) { repeated }
            },
            element: "characteristic 2a19 of service 180a",
            reason:
                "characteristic 1 of service 1 of the peripheral and characteristic 1 of service 2 are the same "
                + "Characteristic",
            remedy: "create a separate Characteristic for each place"
        ),
        Case(
            testDescription: "one characteristic in two places of a service",
            peripheral: Peripheral("P") {
                GATTService(0x180F) {
                    Characteristic<UInt8>(0x2A1A, value: 1)
                    repeated
                    Characteristic<UInt8>(0x2A1B, value: 1)
                    repeated
                }
            },
            element: "characteristic 2a19 of service 180f",
            reason: "characteristics 2 and 4 of the service are the same Characteristic",
            remedy: "create a separate Characteristic for each place"
        ),
        Case(
            testDescription: "more attributes than handles",
            peripheral: Peripheral("P") {
                GATTService(0x180F) {
                    (0..<32_768 as Range<UInt16>).map { number in
                        Characteristic<UInt8>(BluetoothUUID(0x3000 + number), value: 1)
                    }
                }
            },
            element: "peripheral",
            reason: "service 180f (the one at index 0) does not fit: there are no handles beyond 0xffff",
            remedy: "declare fewer services, characteristics or descriptors, or pin none so high"
        ),
    ]

    static let durableUpdates: [Case] = [
        Case(
            testDescription: "durable updates without pairing",
            peripheral: Peripheral("P", restorationIdentifier: "com.example.p") {
                GATTService(0x180F) { Characteristic<UInt8>(0x2A19, .notify, updates: .durable) }
            },
            severity: .warning,
            element: "characteristic 2a19 of service 180f",
            reason: "its durable updates are preserved for bonded centrals, but no central can pair",
            remedy: "let centrals pair with Peripheral(…, pairing: …), or declare another UpdatePolicy"
        )
    ]

    static let persistentValues: [Case] = [
        Case(
            testDescription: "an initial value of 513 bytes",
            peripheral: Peripheral("P", restorationIdentifier: "com.example.p") {
                GATTService(0x180F) {
                    Characteristic<[UInt8]>(0x2A19, .read) {
                        PersistentValue(initially: [UInt8](repeating: 0, count: 513))
                    }
                }
            },
            element: "characteristic 2a19 of service 180f",
            reason: "its initial value has 513 bytes",
            remedy: "split the value: an attribute holds at most 512 bytes"
        ),
        Case(
            testDescription: "an initial value of another length",
            peripheral: Peripheral("P", restorationIdentifier: "com.example.p") {
                GATTService(0x180F) {
                    Characteristic<UInt16>(0x2A19, .read, length: .exactly(1)) {
                        PersistentValue(initially: 1)
                    }
                }
            },
            element: "characteristic 2a19 of service 180f",
            reason: "its initial value has 2 bytes, but must have exactly 1 byte",
            remedy: "change the value, or the length"
        ),
    ]

    static let all =
        properties + values + stackTypes + peripherals + descriptors + services + advertisements
        + malformedUUIDs + exchangedUUIDs + durableUpdates
        + persistentValues

    @Test(arguments: all)
    func namesElementReasonAndRemedy(_ test: Case) async throws {
        let issue = try #require(test.peripheral.validate().only)
        #expect(issue.severity == test.severity)
        #expect(issue.element == test.element)
        #expect(issue.reason == test.reason)
        #expect(issue.remedy == test.remedy)
        let severity = test.severity == .error ? "error" : "warning"
        #expect(issue.description == "\(severity): \(test.element): \(test.reason); \(test.remedy)")
    }

    @Test(arguments: all.filter { $0.severity == .error })
    func errorsAreThrownBeforeAnythingIsPublished(_ test: Case) async throws {
        let backend = ScriptedBackend { _, _ in Issue.record("The backend was asked to serve.") }
        let error = await #expect(throws: DeclarationError.self) {
            try await test.peripheral.run(on: backend, logger: .silent) { _ in }
        }
        #expect(error?.issues == test.peripheral.validate())
    }

    @Test func allIssuesAreToldInTheOrderOfTheDeclaration() {
        let peripheral = Peripheral("") {
            GATTService(0x1800) { Characteristic<UInt8>(0x2A19, .read) }
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, []) }
        }
        #expect(
            peripheral.validate().map(\.element) == [
                "name of the peripheral", "service 1800", "characteristic 2a19 of service 1800",
                "characteristic 2a19 of service 180f",
            ]
        )
    }

    @Test func aSoundDeclarationHasNoIssues() {
        let peripheral = Peripheral(String(repeating: "x", count: 29)) {
            GATTService(0x180F) {
                Characteristic<[UInt8]>(0x2A19, value: [UInt8](repeating: 0, count: 512))
                Characteristic<UInt8>(0x2A19, [.read, .write, .notify, .indicate]) {
                    Read { 1 }
                    Write { _ in }
                    UserDescription("One")
                    Descriptor<UInt8>("5c3a0004-7e3c-4b6e-9d29-b3f1c0a1d001") { Write { _ in } }
                }
                Characteristic<UInt8>(0x2A1A, .broadcast)
                // The program cannot refuse a write to a stream, so no refusal can go unnoticed.
                Characteristic<UInt8>(Self.ownUUID, [.write, .writeWithoutResponse]) { WriteStream() }
                // The specification of a report of a keyboard prescribes both.
                Characteristic<UInt8>(0x2A4D, [.write, .writeWithoutResponse]) { Write { _ in } }
            }
            Advertisement(services: [], manufacturerData: [0xFFFF: [UInt8](repeating: 0, count: 24)])
        }
        #expect(peripheral.validate() == [])
    }
}

extension Array {
    /// The element of an array that has one.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
