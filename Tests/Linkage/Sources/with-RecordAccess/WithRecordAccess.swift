import MinimalProgram
import PeripheralKit
import PeripheralRecordAccess

@main
struct WithRecordAccess {
    static func main() async throws {
        let record = Characteristic<UInt16>(0x2A18, .notify)
        let access = RecordAccess<UInt16>(
            records: { [1, 2] },
            filters: [.sequenceNumber { $0 }],
            reportedBy: record
        ) { number, central, session in
            try await session.notify(record, number, to: central)
        }
        let controlPoint = access.characteristic(security: .encrypted)
        let service = GATTService(0x1808) {
            record
            controlPoint
        }
        try await runMinimalProgram(with: [service]) { _ in }
    }
}
