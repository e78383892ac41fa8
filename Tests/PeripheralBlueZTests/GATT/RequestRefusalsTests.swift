import PeripheralCore
import PeripheralDBus
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct RequestRefusalsTests {
    @Test func theLogIsToldOnceOfEachErrorThatChanges() throws {
        let log = LogRecorder()
        let services = [
            ServiceDescription(
                uuid: 0x180F,
                characteristics: [CharacteristicDescription(uuid: 0x2A19, properties: [.read, .write])]
            )
        ]
        let refusals = RequestRefusals(
            of: try AttributeTable(services: services),
            version: .v5_66,
            log: RunLog(log.logger)
        )
        for error in [
            ATTError.outOfRange, .outOfRange, .unlikelyError, .writeNotPermitted, .application(.x81),
        ] {
            for operation in [RequestRefusal.Operation.read, .write] {
                _ = refusals.answer(to: operation, of: 0x0003, with: error)
            }
        }
        #expect(log.lines.count == 2)
        #expect(
            log.lines.first?.hasSuffix("[characteristic 2a19; out of range (0xff); unlikely error (0x0e)]")
                == true
        )
        #expect(
            log.lines.last?.hasSuffix(
                "[characteristic 2a19; write not permitted (0x03); unlikely error (0x0e)]"
            ) == true
        )
    }
}
