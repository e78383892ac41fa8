import PeripheralImmediateAlert
import PeripheralKit
import PeripheralTxPower

extension ServiceValues {
    static let immediateAlert: [Sample] = [
        .written(.alertLevel, AlertLevel.none, is: "NO_ALERT"),
        .written(.alertLevel, AlertLevel.mild, is: "MILD_ALERT"),
        .written(.alertLevel, AlertLevel.high, is: "HIGH_ALERT"),
    ]

    static let linkLoss: [Sample] = [
        .written(.alertLevel, AlertLevel.none, is: "NO_ALERT"),
        .sent(.alertLevel, AlertLevel.mild, is: "MILD_ALERT"),
        .sent(.alertLevel, AlertLevel.high, is: "HIGH_ALERT"),
    ]

    static let txPower: [Sample] = [
        .sent(.txPowerLevel, TxPowerLevel(dBm: -100), is: -100),
        .sent(.txPowerLevel, TxPowerLevel(dBm: 0), is: 0),
        .sent(.txPowerLevel, TxPowerLevel(dBm: 20), is: 20),
    ]
}
