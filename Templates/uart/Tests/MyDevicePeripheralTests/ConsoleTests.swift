import MyDevicePeripheral
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConsoleTests {
    @Test func answersEachLine() async throws {
        let console = Console { $0.uppercased() }
        try await console.peripheral.test { central in
            try await central.subscribe(to: console.uart.tx)
            try await central.write(console.uart.rx, Array("one\r\ntw".utf8))
            #expect(try await central.nextUpdate(of: console.uart.tx) == Array("ONE\n".utf8))
            try await central.write(console.uart.rx, Array("o\n".utf8))
            #expect(try await central.nextUpdate(of: console.uart.tx) == Array("TWO\n".utf8))
        }
    }

    @Test func servesTheNextCentralAfterOneHasLeft() async throws {
        let console = Console { $0 }
        try await console.peripheral.test { central in
            // It has not subscribed, so the console cannot answer.
            try await central.write(console.uart.rx, Array("lost\n".utf8))
            central.disconnect()
            let other = central.makeAnother()
            try await other.connect()
            try await other.subscribe(to: console.uart.tx)
            try await other.write(console.uart.rx, Array("found\n".utf8))
            #expect(try await other.nextUpdate(of: console.uart.tx) == Array("found\n".utf8))
        }
    }
}
