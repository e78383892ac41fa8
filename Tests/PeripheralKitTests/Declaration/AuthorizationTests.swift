import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AuthorizationTests {
    private struct Mishap: Error {}

    static let refusals: [(@Sendable () throws -> Bool, ATTError)] = [
        ({ false }, .insufficientAuthorization),
        ({ throw ATTError.application(.x81) }, ATTError(rawValue: 0x81)),
        ({ throw Mishap() }, .unlikelyError),
    ]

    @Test(arguments: refusals.indices)
    func whoIsNotAdmittedReachesNoHandler(_ row: Int) async throws {
        let (isAuthorized, refusal) = Self.refusals[row]
        let asked = Mutex(0)
        let value = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            Authorization {
                asked.withLock { $0 += 1 }
                return try isAuthorized()
            }
            Read {
                Issue.record("The handler of reads was asked.")
                return 1
            }
            Write { _ in Issue.record("The handler of writes was asked.") }
        }
        let constant = Characteristic<UInt8>(0x2A1A, value: 7) { Authorization { try isAuthorized() } }
        let peripheral = Peripheral("Closed") {
            GATTService(0x180F) {
                value
                constant
            }
        }
        try await peripheral.test(logger: .silent) { central in
            await #expect(throws: refusal) { try await central.read(value) }
            await #expect(throws: refusal) { try await central.write(value, 1) }
            await #expect(throws: refusal) { try await central.read(constant) }
        }
        #expect(asked.withLock(\.self) == 2)
    }

    @Test func everyAccessIsAskedForByName() async throws {
        let admitted = Mutex<Central?>(nil)
        let value = Characteristic<[UInt8]>(0x2A19, [.read, .write]) {
            Authorization { central in admitted.withLock { $0 == central } }
            Read { [UInt8](repeating: 7, count: 60) }
            Write { _ in }
        }
        let constant = Characteristic<UInt8>(0x2A1A, value: 7) {
            Authorization { central in admitted.withLock { $0 == central } }
        }
        let peripheral = Peripheral("Mine") {
            GATTService(0x180F) {
                value
                constant
            }
        }
        try await peripheral.test(mtu: 23, logger: .silent) { first in
            let second = first.makeAnother()
            try await second.connect(mtu: 23)
            admitted.withLock { $0 = Central(address: second.address) }
            await #expect(throws: ATTError.insufficientAuthorization) { try await first.read(value) }
            #expect(try await second.read(value) == [UInt8](repeating: 7, count: 60))
            #expect(try await second.read(constant) == 7)
            try await second.write(value, [1])
            admitted.withLock { $0 = nil }
            await #expect(throws: ATTError.insufficientAuthorization) { try await second.write(value, [1]) }
        }
    }

    /// The first part of a long write is refused if the central may not write.
    @Test(arguments: [true, false])
    func preparedWritesAreAskedForEarly(isAuthorized: Bool) async throws {
        let written = Log<Int>()
        let asked = Mutex(0)
        let value = Characteristic<[UInt8]>(0x2A19, .write) {
            Authorization {
                asked.withLock { $0 += 1 }
                return isAuthorized
            }
            Write { written.append($0.count) }
        }
        try await Peripheral("Long") { GATTService(0x180F) { value } }.test(mtu: 23, logger: .silent) {
            central in
            let long = [UInt8](repeating: 7, count: 60)
            if isAuthorized {
                try await central.write(value, long)
            } else {
                await #expect(throws: ATTError.insufficientAuthorization) {
                    try await central.write(value, long)
                }
            }
        }
        #expect(written.entries == (isAuthorized ? [60] : []))
        // Once for the parts, and once for the whole.
        #expect(asked.withLock(\.self) == (isAuthorized ? 2 : 1))
    }
}
