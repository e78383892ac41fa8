import MinimalProgram
import PeripheralAutomationIO
import PeripheralKit

@main
struct WithAutomationIO {
    static func main() async throws {
        let buttons = AutomationDigital.input(
            [.inactive, .inactive],
            name: "Buttons",
            which: .front,
            hasTriggers: true
        )
        let relays = AutomationDigital.output([.inactive], name: "Pump", which: .back) { _, _ in }
        let tank = AutomationAnalog.input(
            0,
            name: "Tank",
            format: PresentationFormat(.uint16, exponent: -1, unit: .percentage),
            within: 0...1000,
            isConfirmed: true,
            hasTriggers: true
        )
        let fan = AutomationAnalog.output(0, name: "Fan", within: 0...1000) { _, _ in }
        let io = AutomationIOService(digitals: [buttons, relays], analogs: [tank, fan], hasAggregate: true)
        try await runMinimalProgram(with: [io]) { session in
            try await io.update(buttons, to: [.active, .inactive], in: session)
            try await io.update(tank, to: 500, in: session)
        }
    }
}
