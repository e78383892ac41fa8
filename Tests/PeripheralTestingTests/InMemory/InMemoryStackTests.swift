import PeripheralCore
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What differs between the stacks that a test can imitate.
@Suite(.timeLimit(.minutes(1)))
struct InMemoryStackTests {
    private let value = Characteristic<UInt8>(0x2A6E, [.read, .notify]) { Read { throw ATTError.outOfRange } }

    private var peripheral: Peripheral {
        Peripheral("P") { GATTService(0x181A) { value } }
    }

    private static let errors: [(InMemoryStack, ATTError)] = [
        (.bluez("5.66"), .unlikelyError), (.bluez("5.87"), .unlikelyError), (.specification, .outOfRange),
    ]

    @Test(arguments: errors)
    func errorsOfHandlersAreThoseOfTheStack(stack: InMemoryStack, expected: ATTError) async throws {
        let log = LogRecorder()
        try await peripheral.test(as: stack, logger: log.logger) { central async throws in
            await #expect(throws: expected) { try await central.read(value) }
        }
        // As on BlueZ, the log says that the central receives a different error.
        let count = log.lines.count { $0.hasPrefix("warning: BlueZ cannot send this ATT error.") }
        #expect(count == (expected == .outOfRange ? 0 : 1))
    }

    @Test func aTestImitatesTheOldestVersion() async throws {
        try await peripheral.test { central async throws in
            await #expect(throws: ATTError.unlikelyError) { try await central.read(value) }
        }
        // The last own handle of BlueZ 5.66 is 0x0014.
        try await peripheral.test { central async throws in
            #expect(try await central.discover().applicationServices.first?.handles.lowerBound == 0x0015)
        }
    }

    /// A value for one of two subscribers.
    private static let updates: [(InMemoryStack, PeripheralError.Code?)] = [
        (.bluez("5.75"), .notAddressable), (.bluez("5.76"), nil), (.specification, nil),
    ]

    @Test(arguments: updates)
    func oneOfTwoSubscribersIsReachedOnlyIfTheStackCan(
        stack: InMemoryStack,
        expected: PeripheralError.Code?
    ) async throws {
        // BlueZ 5.75 needs a pinned service.
        let peripheral = Peripheral("P") { GATTService(0x181A, handle: 0x0100) { value } }
        try await peripheral.test(as: stack) { central, session in
            let other = central.makeAnother()
            try await other.connect()
            for central in [central, other] { try await central.subscribe(to: value) }
            try await until { session.subscriptions.count == 2 }
            let first = try #require(session.subscriptions.first?.central)
            do {
                try await session.notify(value, 1, to: first)
                #expect(expected == nil)
            } catch let error as PeripheralError {
                #expect(error.code == expected)
            }
            try await session.notify(value, 2)
        }
    }

    /// BlueZ 5.75 refuses services that are not pinned.
    @Test func aDeclarationThatTheStackCannotServeIsRefused() async throws {
        await #expect(throws: DeclarationError.self) {
            try await peripheral.test(as: .bluez("5.75")) { _ in }
        }
        try await peripheral.test(as: .specification) { central, session in
            _ = try await central.discover()
        }
        let pinned = Peripheral("P") { GATTService(0x180F, handle: 0x0100) { value } }
        try await pinned.test(as: .bluez("5.75")) { central, session in
            let before = try await central.discover()
            await #expect(throws: DeclarationError.self) {
                try await session.add { GATTService(0x1815) { Characteristic<UInt8>(0x2A6F, value: 1) } }
            }
            #expect(try await central.discover() == before)
        }
    }

    private static let lengths: [(InMemoryStack, Int, isAccepted: Bool)] = [
        (.bluez("5.66"), 510, true), (.bluez("5.66"), 511, false), (.bluez("5.68"), 512, false),
        (.bluez("5.69"), 512, true), (.specification, 512, true), (.bluez("5.69"), 513, false),
        (.bluez("5.66"), 513, false), (.specification, 513, false),
    ]

    /// bluetoothd refuses values of more than 512 bytes, and before 5.69 of more than 510 bytes.
    ///
    /// The log names the characteristic and the reason.
    @Test(arguments: lengths)
    func theLogExplainsARefusedLength(stack: InMemoryStack, length: Int, isAccepted: Bool) async throws {
        let value = Characteristic<[UInt8]>(0x2A6E, .write) { Write { _ in } }
        let peripheral = Peripheral("P") { GATTService(0x181A, handle: 0x0100) { value } }
        let log = LogRecorder()
        try await peripheral.test(as: stack, logger: log.logger) { central async throws in
            let bytes = [UInt8](repeating: 7, count: length)
            if isAccepted {
                try await central.write(value, bytes)
            } else {
                await #expect(throws: ATTError.invalidAttributeValueLength) {
                    try await central.write(value, bytes)
                }
            }
        }
        let reasons = log.lines.filter { $0.contains("has refused a written value of \(length) bytes") }
        #expect(reasons.count == (isAccepted ? 0 : 1))
        for reason in reasons {
            let name = stack == .specification ? "The in-memory stack" : "\(stack)"
            #expect(reason.hasPrefix("warning: \(name) has refused"))
            #expect(reason.contains(" \(length) bytes for characteristic 2a6e of service 181a with "))
            let isOld = ["BlueZ 5.66", "BlueZ 5.68"].contains(name)
            #expect(reason.contains("at most 510 bytes, because versions before 5.69") == isOld)
            #expect(reason.contains("at most 512 bytes. No version accepts more") == !isOld)
        }
    }

    /// With a small MTU, the central writes the value in parts.
    @Test(arguments: [(508, true), (509, false)])
    func theLogExplainsARefusedLengthInParts(length: Int, isAccepted: Bool) async throws {
        let value = Characteristic<[UInt8]>(0x2A6E, .write) { Write { _ in } }
        let peripheral = Peripheral("P") { GATTService(0x181A) { value } }
        let log = LogRecorder()
        try await peripheral.test(mtu: 23, logger: log.logger) { central in
            do {
                try await central.write(value, [UInt8](repeating: 7, count: length))
                #expect(isAccepted)
            } catch let error as ATTError {
                #expect(!isAccepted)
                #expect(error == .invalidAttributeValueLength)
            }
        }
        #expect(log.lines.contains { $0.contains("at most 508 bytes") } == !isAccepted)
        #expect(log.lines.contains { $0.contains("value of 509 bytes or more for") } == !isAccepted)
    }

    /// An error, not a crash.
    @Test func aLiteralThatIsNoVersionIsRefused() async throws {
        let error = await #expect(throws: DeclarationError.self) {
            try await peripheral.test(as: .bluez("5,66")) { _ in Issue.record("The body has begun.") }
        }
        #expect(error?.issues.map(\.reason) == ["\"5,66\" is not a version of BlueZ"])
        #expect(
            peripheral.validate(for: .bluez("abc")).map(\.reason) == ["\"abc\" is not a version of BlueZ"]
        )
    }

    /// A version that the framework does not know would silently behave like another one.
    @Test func aVersionThatIsNotKnownIsRefused() async throws {
        let error = await #expect(throws: DeclarationError.self) {
            try await peripheral.test(as: .bluez("5.99")) { _ in Issue.record("The body has begun.") }
        }
        #expect(
            error?.description
                == "error: peripheral: BlueZ 5.99 cannot be imitated, because its behavior is not "
                + "known; use a version from 5.66 to 5.87, or .specification"
        )
    }

    @Test func theErrorOfASingleUpdateNamesTheVersion() async throws {
        let indicated = Characteristic<UInt8>(0x2A6E, [.notify, .indicate])
        let peripheral = Peripheral("P") { GATTService(0x181A) { indicated } }
        try await peripheral.test { central, session in
            let other = central.makeAnother()
            try await other.connect()
            for central in [central, other] { try await central.subscribe(to: indicated) }
            try await until { session.subscriptions.count == 2 }
            let first = try #require(session.subscriptions.first?.central)
            let error = await #expect(throws: PeripheralError.self) {
                try await session.notify(indicated, 1, to: first)
            }
            #expect(error?.code == .notAddressable)
            #expect(error?.message.contains("from version 5.76") == true)
        }
        try await peripheral.test(as: .bluez("5.66")) { central, session in
            let other = central.makeAnother()
            try await other.connect()
            for central in [central, other] { try await central.subscribe(to: indicated, for: .indication) }
            try await until { session.subscriptions.count == 2 }
            let first = try #require(session.subscriptions.first?.central)
            let error = await #expect(throws: PeripheralError.self) {
                try await session.indicate(indicated, 1, to: first)
            }
            #expect(error?.code == .notAddressable)
            #expect(error?.message.contains("5.80") == true)
        }
    }

    @Test func stacksHaveNames() {
        #expect("\(InMemoryStack.bluez("5.66"))" == "BlueZ 5.66")
        #expect("\(InMemoryStack.specification)" == "specification")
    }
}
