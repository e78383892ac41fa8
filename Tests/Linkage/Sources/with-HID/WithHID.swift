import MinimalProgram
import PeripheralHID
import PeripheralKit

@main
struct WithHID {
    static func main() async throws {
        let keyboard = HIDKeyboard(onLEDs: { _, _ in }, onCommand: { _, _ in })
        let gamepad = HIDGamepad()
        let light = HIDReport.output(length: 1) { _, _ in }
        let setting = HIDReport.feature(id: 2, length: 1, read: { [0] }, write: { _, _ in })
        let wheel = HIDReport.input(id: 3, length: 1)
        let other = HIDService(
            reportMap: [0x05, 0x01],
            reports: [light, setting, wheel],
            information: HIDInformation(countryCode: 33),
            externalReport: .batteryLevel
        )
        try await runMinimalProgram(with: [keyboard, gamepad, other]) { session in
            try await keyboard.type("Hello", in: session)
            try await gamepad.send(GamepadReport(direction: .up, leftStick: .center), in: session)
            try await wheel.send([1], in: session)
        }
    }
}
