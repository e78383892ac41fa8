import PeripheralAutomationIO
import PeripheralKit

extension ServiceValues {
    static let automationIO: [Sample] = [
        .written(
            .digital,
            [.unknown, .tristate, .active, .inactive] as DigitalStates,
            is: ["UNKNOWN", "TRISTATE", "ACTIVE", "INACTIVE"]
        ),
        .sent(
            .digital,
            [.active, .active, .active, .active, .tristate] as DigitalStates,
            is: ["ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "TRISTATE", "INACTIVE", "INACTIVE", "INACTIVE"]
        ),
        .written(.analog, 0x1234 as UInt16, is: 0x1234),
        .sent(.analog, UInt16.max, is: 0xFFFF),
        .sent(.aggregate, [0x01, 0xC9, 0x00] as [UInt8], is: .bytes([0x01, 0xC9, 0x00])),
    ]
}
