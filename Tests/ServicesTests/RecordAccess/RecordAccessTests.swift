import PeripheralKit
import PeripheralRecordAccess
import PeripheralTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecordAccessTests {
    struct Record: Equatable {
        var number: UInt16
        var time: DateTime
    }

    /// A store of ten records, one for each day; the day is the number.
    final class Store: Sendable {
        let records = Mutex<[Record]>(
            (1...10).map { Record(number: $0, time: DateTime.november(Int($0))) }
        )
        /// Has the next report wait for the end of its task.
        let holdsReports = Mutex(false)

        var numbers: [UInt16] { records.withLock { $0.map(\.number) } }
    }

    private struct Failure: Error {}

    private let record = Characteristic<UInt16>(0x2A18, .notify)

    private func run(
        canRemove: Bool = true,
        hasFilters: Bool = true,
        hasEnds: Bool = true,
        fails: Bool = false,
        _ body:
            @escaping @Sendable (
                _ central: VirtualCentral, _ controlPoint: Characteristic<RecordAccessResponse>,
                _ store: Store
            ) async throws -> Void
    ) async throws {
        let store = Store()
        let remove: @Sendable ([Record]) async throws -> Void = { removed in
            store.records.withLock { $0.removeAll { removed.contains($0) } }
        }
        let controlPoint = RecordAccess<Record>(
            records: {
                if fails { throw Failure() }
                return store.records.withLock(\.self)
            },
            remove: canRemove ? remove : nil,
            filters: hasFilters
                ? [.sequenceNumber { $0.number }, .userFacingTime { UserFacingTime($0.time) }] : [],
            hasEnds: hasEnds,
            reportedBy: record,
            report: { stored, central, session in
                try await session.notify(record, stored.number, to: central)
                guard store.holdsReports.withLock(\.self) else { return }
                while true { try await Task.sleep(for: .seconds(3600)) }
            }
        )
        .characteristic(security: .open)
        let peripheral = Peripheral("Records") {
            GATTService(0x1808) {
                record
                controlPoint
            }
        }
        try await peripheral.test { central in
            try await central.subscribe(to: record)
            try await central.subscribe(to: controlPoint)
            try await body(central, controlPoint, store)
        }
    }

    static let selections: [(RecordSelection, [UInt16])] = [
        (.all, Array(1...10)),
        (.first, [1]),
        (.last, [10]),
        (.upTo(.sequenceNumber(3)), [1, 2, 3]),
        (.from(.sequenceNumber(9)), [9, 10]),
        (.within(.sequenceNumber(4), .sequenceNumber(6)), [4, 5, 6]),
        (.within(.sequenceNumber(4), .sequenceNumber(4)), [4]),
        (.upTo(.userFacingTime(.november(2))), [1, 2]),
        (.from(.userFacingTime(.november(9))), [9, 10]),
        (.within(.userFacingTime(.november(3)), .userFacingTime(.november(5))), [3, 4, 5]),
        (.from(.sequenceNumber(11)), []),
        (.upTo(.sequenceNumber(0)), []),
    ]

    @Test(arguments: selections)
    func reportsCountsAndDeletes(selection: RecordSelection, numbers: [UInt16]) async throws {
        try await run { central, controlPoint, store in
            let count = UInt16(numbers.count)
            let counted = try await central.request(
                RecordAccessRequest.reportNumber(selection),
                of: controlPoint
            )
            #expect(counted == .number(count))
            let result: RecordAccessResult = numbers.isEmpty ? .noRecordsFound : .success
            try await central.write(RecordAccessRequest.report(selection), to: controlPoint)
            let handle = try await central.locate(record).valueHandle
            for number in numbers {
                let (origin, update) = try await central.nextUpdate()
                #expect(origin == handle && update.value == number.gattBytes)
            }
            let (origin, response) = try await central.nextUpdate()
            #expect(origin != handle)
            #expect(response.value == RecordAccessResponse.result(result, of: .report).gattBytes)
            let deleted = try await central.request(RecordAccessRequest.delete(selection), of: controlPoint)
            #expect(deleted == .result(result, of: .delete))
            #expect(store.numbers == (1...10).filter { !numbers.contains($0) })
        }
    }

    /// Bytes by hand, after the Glucose Service 1.0.1, section 3.4: op code, operator, operand; then op code
    /// 6, operator 0, the request's op code and the response code value.
    @Test(
        arguments: [
            ("an unknown operation", [0x05, 0x01], [0x06, 0x00, 0x05, 0x02]),
            ("a reserved operation", [0x00, 0x00], [0x06, 0x00, 0x00, 0x02]),
            ("no operator", [0x01, 0x00], [0x06, 0x00, 0x01, 0x03]),
            ("an operator with an abort", [0x03, 0x01], [0x06, 0x00, 0x03, 0x03]),
            ("an unknown operator", [0x01, 0x07], [0x06, 0x00, 0x01, 0x04]),
            ("an operand too much", [0x01, 0x01, 0x01], [0x06, 0x00, 0x01, 0x05]),
            ("an operand with an abort", [0x03, 0x00, 0x01], [0x06, 0x00, 0x03, 0x05]),
            ("no operand", [0x04, 0x02], [0x06, 0x00, 0x04, 0x05]),
            ("half of a number", [0x04, 0x02, 0x01, 0x01], [0x06, 0x00, 0x04, 0x05]),
            ("one bound of two", [0x01, 0x04, 0x01, 0x01, 0x00], [0x06, 0x00, 0x01, 0x05]),
            (
                "bounds in the wrong order", [0x01, 0x04, 0x01, 0x02, 0x00, 0x01, 0x00],
                [0x06, 0x00, 0x01, 0x05]
            ),
            ("a time that is none", [0x01, 0x03, 0x02, 0, 0, 0, 0, 0, 0, 0], [0x06, 0x00, 0x01, 0x05]),
            ("an unknown filter", [0x01, 0x02, 0x03, 0x00, 0x00], [0x06, 0x00, 0x01, 0x09]),
            ("an abort of nothing", [0x03, 0x00], [0x06, 0x00, 0x03, 0x01]),
            ("the number of all", [0x04, 0x01], [0x05, 0x00, 0x0A, 0x00]),
            ("the number from 8 on", [0x04, 0x03, 0x01, 0x08, 0x00], [0x05, 0x00, 0x03, 0x00]),
        ] as [(String, [UInt8], [UInt8])]
    )
    func answersAsSpecified(name: String, request: [UInt8], response: [UInt8]) async throws {
        try await run { central, controlPoint, _ in
            try await central.write(request, to: controlPoint)
            let handle = try await central.locate(controlPoint).valueHandle
            let received = try await central.nextUpdate(of: handle)
            #expect(received == ReceivedUpdate(kind: .indication, value: response))
        }
    }

    @Test(arguments: [[], [0x01]] as [[UInt8]])
    func aRequestHasTwoBytesAtLeast(bytes: [UInt8]) async throws {
        try await run { central, controlPoint, _ in
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(bytes, to: controlPoint)
            }
        }
    }

    @Test func whatIsNotThereIsNotSupported() async throws {
        try await run(canRemove: false, hasFilters: false, hasEnds: false) { central, controlPoint, _ in
            let refused: [(RecordAccessRequest, RecordAccessResult)] = [
                (.delete(.all), .operationNotSupported),
                (.report(.first), .operatorNotSupported),
                (.report(.last), .operatorNotSupported),
                (.report(.from(.sequenceNumber(1))), .operatorNotSupported),
            ]
            for (request, result) in refused {
                let response = try await central.request(request, of: controlPoint)
                #expect(response == .result(result, of: request.operation))
            }
        }
    }

    @Test func aStoreThatFailsIsTold() async throws {
        try await run(fails: true) { central, controlPoint, _ in
            let response = try await central.request(RecordAccessRequest.report(.all), of: controlPoint)
            #expect(response == .result(.procedureNotCompleted, of: .report))
        }
    }

    @Test func anAbortEndsTheReport() async throws {
        try await run { central, controlPoint, store in
            store.holdsReports.withLock { $0 = true }
            try await central.write(RecordAccessRequest.report(.all), to: controlPoint)
            #expect(try await central.nextUpdate(of: record) == 1)
            await #expect(throws: ATTError.procedureAlreadyInProgress) {
                try await central.write(RecordAccessRequest.reportNumber(.all), to: controlPoint)
            }
            let response = try await central.request(RecordAccessRequest.abort, of: controlPoint)
            #expect(response == .result(.success, of: .abort))
            store.holdsReports.withLock { $0 = false }
            _ = try await central.request(RecordAccessRequest.report(.last), of: controlPoint)
            #expect(try await central.nextUpdate(of: record) == 10)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(RecordAccessRequest.self, seed: seed, count: 0...20)
        try fuzz(RecordAccessResponse.self, seed: seed, count: 0...8)
    }

    /// Days in the order of time: each place is behind the one before, over ends of months and years.
    @Test func timesAreInTheirOrder() throws {
        let dates = [
            (1999, 12, 31), (2000, 2, 28), (2000, 2, 29), (2000, 3, 1), (2001, 2, 28), (2001, 3, 1),
            (2001, 12, 31), (2002, 1, 1),
        ]
        let times = dates.compactMap { DateTime(year: $0.0, month: $0.1, day: $0.2) }
        #expect(times.count == dates.count)
        let minutesOfDays = [
            0, 59 * 1440, 60 * 1440, 61 * 1440, 425 * 1440, 426 * 1440, 731 * 1440, 732 * 1440,
        ]
        for (time, minutes) in zip(times, minutesOfDays) {
            #expect(UserFacingTime(time) == UserFacingTime(times[0], minutes: minutes))
        }
        #expect(UserFacingTime(try #require(DateTime(year: nil, month: 1, day: 1))) == nil)
        // What a program counts wrong ends nothing.
        #expect(UserFacingTime(times[0], minutes: .max) == UserFacingTime(times[0], minutes: 2_147_483_647))
        #expect(UserFacingTime(times[0], minutes: .min) == UserFacingTime(times[0], minutes: -2_147_483_648))
    }
}
