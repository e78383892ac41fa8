import PeripheralKit
import PeripheralRecordAccess

enum RecordAccessStandIns {
    struct Record: Sendable {
        var number: UInt16
        var measurement: UInt8
    }

    protocol Store: Sendable {
        var all: [Record] { get async }
        func remove(_ records: [Record]) async throws
    }

    static var store: any Store { fatalError() }
    static var measurement: Characteristic<UInt8> { fatalError() }
}
