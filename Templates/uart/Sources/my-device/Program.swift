import MyDevicePeripheral
import PeripheralKit
import PeripheralTesting

/// The answers of the console, and what a virtual central does with `--emulated`.
struct Program: Sendable {
    // Carry out your own commands here.
    private let console = Console { line in
        switch line {
        case "help": "Commands: help, roll"
        case "roll": "\(Int.random(in: 1...6))"
        default: "unknown command: \(line)"
        }
    }

    var peripheral: Peripheral { console.peripheral }

    func demonstrate(_ central: VirtualCentral) async throws {
        try await central.subscribe(to: console.uart.tx)
        for line in ["help", "roll", "jump"] {
            try await central.write(console.uart.rx, Array("\(line)\n".utf8))
            var answer: [UInt8] = []
            while answer.last != 0x0A { answer += try await central.nextUpdate(of: console.uart.tx) }
            let text = String(decoding: answer.dropLast(), as: UTF8.self)
            print("The central writes \(line), and receives: \(text)")
        }
    }
}
