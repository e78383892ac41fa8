internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralNordicUART
internal import PeripheralTesting

extension ServiceConformance {
    static let nordicUART = [nordicUARTEcho, nordicUARTLines]

    private static let nordicUARTEcho = Scenario("NordicUART: bytes arrive complete and in order, both ways")
    {
        let uart = NordicUARTService()
        return ScenarioRun(Peripheral("Console") { uart }, mtu: 100) { central, session in
            try await central.subscribe(to: uart.tx, knownTo: session)
            let port = try uart.port(in: session)
            var received = port.received.makeAsyncIterator()
            let sent = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
            for start in stride(from: 0, to: sent.count, by: 97) {
                let part = Array(sent[start..<min(start + 97, sent.count)])
                try await central.write(uart.rx, part)
                try expect("received", await received.next()?.value, is: part)
            }
            try await port.write(sent)
            var arrived: [UInt8] = []
            while arrived.count < sent.count { arrived += try await central.nextUpdate(of: uart.tx) }
            try expect("arrived", arrived, is: sent)
        }
    }

    private static let nordicUARTLines = Scenario("NordicUART: a line in several writes is answered once") {
        let uart = NordicUARTService()
        return ScenarioRun(Peripheral("Console") { uart }, mtu: 23) { central, session in
            try await central.subscribe(to: uart.tx, knownTo: session)
            let port = try uart.port(in: session)
            var lines = port.lines.makeAsyncIterator()
            try await central.write(uart.rx, Array("What is the ti".utf8))
            try await central.write(uart.rx, Array("me?\r\n".utf8))
            guard let line = await lines.next() else {
                throw ConformanceFailure(description: "The lines ended before the expected line arrived.")
            }
            try expect("line", line.text, is: "What is the time?")
            try await port.write("Late\n", to: line.central)
            try expect("answer", try await central.nextUpdate(of: uart.tx), is: Array("Late\n".utf8))
        }
    }
}
