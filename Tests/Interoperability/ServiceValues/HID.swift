import PeripheralHID
import PeripheralKit

extension ServiceValues {
    static let hid: [Sample] = [
        .sent(
            .hidInformation,
            HIDInformation(version: 0x0111, countryCode: 33, wakesHost: true, isNormallyConnectable: false),
            is: ["bcd_hid": 0x0111, "b_country_code": 33, "flags": 1]
        ),
        .sent(
            .hidInformation,
            HIDInformation(wakesHost: false, isNormallyConnectable: true),
            is: ["bcd_hid": 0x0111, "b_country_code": 0, "flags": 2]
        ),
        .written(.hidControlPoint, HIDCommand.suspend, is: "SUSPEND"),
        .written(.hidControlPoint, HIDCommand.exitSuspend, is: "EXIT_SUSPEND"),
        .written(.protocolMode, HIDProtocolMode.boot, is: "BOOT_PROTOCOL"),
        .written(.protocolMode, HIDProtocolMode.report, is: "REPORT_PROTOCOL"),
        .sent(
            .bootKeyboardInputReport,
            KeyboardReport(modifiers: [.leftShift, .rightAlt], keys: [.enter, .tab]),
            is: ["modifiers": 0x42, "reserved": 0, "keycodes": [0x28, 0x2B, 0, 0, 0, 0]]
        ),
        .sent(.reportMap, [0x05, 0x01] as [UInt8], is: ["data": .bytes([0x05, 0x01])]),
        .sent(.report, KeyboardReport(keys: [.enter]), is: ["data": "0000280000000000"]),
        .written(.bootKeyboardOutputReport, [.numLock, .kana] as KeyboardLEDs, is: 0x11),
    ]
}
