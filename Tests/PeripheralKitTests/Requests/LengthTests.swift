import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LengthTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var length: ValueLength
        var allowed: [Int]
        var refused: [Int]
        var testDescription: String { length.description }
    }

    static let rows = [
        Row(length: .any, allowed: [0, 1, 512], refused: []),
        Row(length: .exactly(2), allowed: [2], refused: [0, 1, 3]),
        Row(length: .exactly(0), allowed: [0], refused: [1]),
        Row(length: .upTo(20), allowed: [0, 1, 20], refused: [21, 512]),
        Row(length: .within(2...4), allowed: [2, 3, 4], refused: [0, 1, 5]),
    ]

    @Test(arguments: rows)
    func writesOfAnotherLengthDoNotReachTheHandler(_ row: Row) async throws {
        let written = Log<Int>()
        let value = Characteristic<[UInt8]>(0x2A19, .write, length: row.length) {
            Write { written.append($0.count) }
        }
        try await Peripheral("Length") { GATTService(0x180F) { value } }.test(
            as: .specification,
            logger: .silent
        ) { central in
            for count in row.allowed { try await central.write(value, [UInt8](repeating: 0, count: count)) }
            for count in row.refused {
                await #expect(throws: ATTError.invalidAttributeValueLength) {
                    try await central.write(value, [UInt8](repeating: 0, count: count))
                }
            }
        }
        #expect(written.entries == row.allowed)
    }

    @Test(arguments: rows)
    func valuesOfAnotherLengthAreNotRead(_ row: Row) async throws {
        let lengths = Log<Int>()
        let value = Characteristic<[UInt8]>(0x2A19, .read, length: row.length) {
            Read { [UInt8](repeating: 7, count: lengths.entries.last ?? 0) }
        }
        try await Peripheral("Length") { GATTService(0x180F) { value } }.test(logger: .silent) {
            central async throws in
            for count in row.allowed {
                lengths.append(count)
                #expect(try await central.read(value).count == count)
            }
            for count in row.refused {
                lengths.append(count)
                await #expect(throws: ATTError.unlikelyError) { try await central.read(value) }
            }
        }
    }

    @Test func theLogNamesTheLimitOfAnAttribute() async throws {
        let value = Characteristic<[UInt8]>(0x2A19, .read) { Read { [UInt8](repeating: 7, count: 513) } }
        let log = LogRecorder()
        try await Peripheral("Length") { GATTService(0x180F) { value } }.test(logger: log.logger) {
            central async throws in
            await #expect(throws: ATTError.unlikelyError) { try await central.read(value) }
        }
        let line = log.lines.first { $0.hasPrefix("error: A read was refused") }
        #expect(line?.contains("too long for an attribute. Shorten the value, or send") == true)
        #expect(line?.hasSuffix("; 513; 512]") == true)
    }

    @Test(arguments: rows)
    func valuesOfAnotherLengthAreNotNotified(_ row: Row) async throws {
        let value = Characteristic<[UInt8]>(0x2A19, .notify, length: row.length)
        try await Peripheral("Length") { GATTService(0x180F) { value } }.test(logger: .silent) {
            central,
            session in
            try await central.subscribe(to: value)
            for count in row.allowed { try await session.notify(value, [UInt8](repeating: 7, count: count)) }
            for count in row.refused {
                let error = await #expect(throws: PeripheralError.self) {
                    try await session.notify(value, [UInt8](repeating: 7, count: count))
                }
                #expect(error?.code == .invalidValue)
                #expect(error?.message.hasSuffix("must have \(row.length).") == true)
            }
            for count in row.allowed where count <= 514 {
                let update = try await central.nextUpdate(of: value)
                #expect(update.count == count)
            }
        }
    }

    @Test func theLengthComesBeforeTheType() async throws {
        let value = Characteristic<UInt16>(0x2A19, .write, length: .exactly(2)) { Write { _ in } }
        try await Peripheral("Length") { GATTService(0x180F) { value } }.test(logger: .silent) { central in
            let handle = try await central.locate(value).valueHandle
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(handle, [1, 2, 3])
            }
            try await central.write(handle, [1, 2])
        }
    }
}
