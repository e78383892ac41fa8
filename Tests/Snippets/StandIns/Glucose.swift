import PeripheralGlucose
import PeripheralKit

enum GlucoseStandIns {
    protocol Meter: Sendable {
        var records: [GlucoseRecord] { get async }
        func remove(_ records: [GlucoseRecord]) async
        func show(_ passkey: UInt32) async
    }

    static var meter: any Meter { fatalError() }
    static var time: DateTime { fatalError() }
}
