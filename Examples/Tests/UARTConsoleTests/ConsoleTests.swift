import PeripheralKit
import PeripheralNordicUART
import PeripheralTesting
import Testing

@testable import uart_console

@Suite(.timeLimit(.minutes(1)))
struct ConsoleTests {
    @Test(
        arguments: [
            ("", "> "), ("echo a  b", "a  b\n> "), ("echo", "\n> "), ("count 3", "1\n2\n3\n> "),
            ("count", "count to what?\n> "), ("count -1", "count to what?\n> "),
            ("count 100001", "count to what?\n> "),
            ("rm -rf /", "rm? Try help.\n> "),
        ]
    )
    func answers(line: String, answer: String) async throws {
        var said = ""
        try await Console().carryOut(line) { said += $0 }
        #expect(said == answer)
    }

    /// An answer that is longer than all queues arrives complete.
    @Test func sendsALongAnswer() async throws {
        let uart = NordicUARTService()
        let answer = (1...10_000).map { "\($0)\n" }.joined() + "> "
        try await Peripheral("Console") { uart }.test(mtu: 65) { central, session in
            try await central.subscribe(to: uart.tx)
            let (typed, _) = AsyncStream.makeStream(of: String.self)
            let port = try uart.port(in: session)
            async let _: Void = serve(port, typed: typed)
            try await central.write(uart.rx, Array("count 10000\n".utf8))
            var received: [UInt8] = []
            while received.count < answer.utf8.count { received += try await central.nextUpdate(of: uart.tx) }
            #expect(received == Array(answer.utf8))
        }
    }

    @Test func sendsWhatIsTyped() async throws {
        let uart = NordicUARTService()
        try await Peripheral("Console") { uart }.test { central, session in
            try await central.subscribe(to: uart.tx)
            let (typed, type) = AsyncStream.makeStream(of: String.self)
            let port = try uart.port(in: session)
            async let _: Void = serve(port, typed: typed)
            type.yield("hello")
            #expect(try await central.nextUpdate(of: uart.tx) == Array("hello\n".utf8))
        }
    }

    /// One phone has a long request, and the other has a short one.
    @Test func noPhoneWaitsForAnother() async throws {
        let uart = NordicUARTService()
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        // Older versions of BlueZ cannot send an update to one of several phones.
        try await Peripheral("Console") { uart }.test(as: .bluez("5.76")) { central, session in
            let other = central.makeAnother()
            try await other.connect()
            for phone in [central, other] { try await phone.subscribe(to: uart.tx) }
            let (typed, _) = AsyncStream.makeStream(of: String.self)
            let port = try uart.port(in: session)
            async let _: Void = serve(port, typed: typed) { line in
                if line.text == "long" { for await _ in held {} }
                try await port.write(line.text, to: line.central)
            }
            try await central.write(uart.rx, Array("long\nafter\n".utf8))
            try await other.write(uart.rx, Array("short\n".utf8))
            #expect(try await other.nextUpdate(of: uart.tx) == Array("short".utf8))
            release.finish()
            // The lines of one phone keep their order.
            var answer: [UInt8] = []
            while answer.count < 9 { answer += try await central.nextUpdate(of: uart.tx) }
            #expect(answer == Array("longafter".utf8))
        }
    }
}
