import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralNordicUART

@Suite(.timeLimit(.minutes(1)))
struct NordicUARTServiceTests {
    @Test func declaresBothDirections() async throws {
        let service: BluetoothUUID = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
        try await Peripheral("Console") { NordicUARTService() }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(
                        service: service,
                        uuid: "6e400002-b5a3-f393-e0a9-e50e24dcca9e",
                        properties: [.write, .writeWithoutResponse]
                    ),
                    DeclaredCharacteristic(
                        service: service,
                        uuid: "6e400003-b5a3-f393-e0a9-e50e24dcca9e",
                        properties: .notify
                    ),
                ]
            )
        }
    }

    @Test func receivesAStream() async throws {
        let uart = NordicUARTService()
        try await Peripheral("Console") { uart }.test { central, session in
            var received = try uart.port(in: session).received.makeAsyncIterator()
            try await central.write(uart.rx, [1, 2])
            try await central.writeWithoutResponse(uart.rx, [3])
            #expect(await received.next()?.value == [1, 2])
            #expect(await received.next()?.value == [3])
        }
    }

    @Test(arguments: [23, 64, 517])
    func transmitsInWhatACentralTakes(mtu: Int) async throws {
        let uart = NordicUARTService()
        let bytes = (0..<1500).map { UInt8(truncatingIfNeeded: $0) }
        try await Peripheral("Console") { uart }.test(mtu: mtu) { central, session in
            let port = try uart.port(in: session)
            try await central.subscribe(to: uart.tx)
            try await port.write(bytes)
            var arrived: [UInt8] = []
            while arrived.count < bytes.count {
                let part = try await central.nextUpdate(of: uart.tx)
                #expect(part.count == min(mtu - 3, 512, bytes.count - arrived.count))
                arrived += part
            }
            #expect(arrived == bytes)
        }
    }

    @Test func answersTheCentralThatHasWritten() async throws {
        let uart = NordicUARTService()
        try await Peripheral("Console") { uart }.test(as: .specification) { central, session in
            let other = central.makeAnother()
            try await other.connect()
            let port = try uart.port(in: session)
            var lines = port.lines.makeAsyncIterator()
            try await central.subscribe(to: uart.tx)
            try await other.subscribe(to: uart.tx)
            try await central.write(uart.rx, Array("hal".utf8))
            try await other.write(uart.rx, Array("other\n".utf8))
            try await central.write(uart.rx, Array("lo\r\n".utf8))
            for text in ["other", "hallo"] {
                let line = try #require(await lines.next())
                #expect(line.text == text)
                try await port.write("<\(text)>", to: line.central)
            }
            #expect(try await central.nextUpdate(of: uart.tx) == Array("<hallo>".utf8))
            #expect(try await other.nextUpdate(of: uart.tx) == Array("<other>".utf8))
        }
    }

    @Test func refusesToWriteToWhoDoesNotListen() async throws {
        let uart = NordicUARTService()
        try await Peripheral("Console") { uart }.test { central, session in
            let port = try uart.port(in: session)
            let there = try #require(session.centrals.first)
            try await port.write("nobody")
            let error = await #expect(throws: PeripheralError.self) { try await port.write("x", to: there) }
            #expect(error?.code == .notSubscribed)
        }
    }

    @Test func servesBondedCentralsAlone() async throws {
        let uart = NordicUARTService(security: .encrypted)
        try await Peripheral("Console", pairing: .justWorks) { uart }.test { central in
            await #expect(throws: ATTError.self) { try await central.subscribe(to: uart.tx) }
            try await central.pair(.justWorks)
            try await central.subscribe(to: uart.tx)
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct UARTLineAssemblerTests {
    let central: Central
    let other: Central

    init() throws {
        central = Central(address: try #require(DeviceAddress("00:00:00:00:00:01")))
        other = Central(address: try #require(DeviceAddress("00:00:00:00:00:02")))
    }

    @Test(
        arguments: [
            (["a\n"], ["a"]), (["a\r"], ["a"]), (["a\r\n"], ["a"]), (["a\r", "\n"], ["a"]),
            (["a\n\nb\n"], ["a", "", "b"]), (["a\n\rb\n"], ["a", "", "b"]), (["a\r\rb\r"], ["a", "", "b"]),
            (["a"], []), (["a", "b\nc"], ["ab"]), (["abcd\n"], ["abcd"]), (["abcde\n"], ["abcd", "e"]),
            (["abcdefghi"], ["abcd", "efgh"]), ([""], []), (["\r", "", "\n\n"], ["", ""]),
        ] as [([String], [String])]
    )
    func findsTheEndsOfLines(writes: [String], lines: [String]) {
        var assembler = UARTLineAssembler(limit: 4)
        var found: [String] = []
        for write in writes {
            assembler.append(Array(write.utf8), from: central) { [central] }
            while let line = assembler.next() { found.append(line.text) }
        }
        #expect(found == lines)
    }

    @Test func forgetsThoseWhoAreGone() {
        var assembler = UARTLineAssembler(limit: 100)
        assembler.append(Array("begun".utf8), from: central) { [central] }
        assembler.append(Array("x".utf8), from: other) { [other] }
        assembler.append(Array("anew\n".utf8), from: central) { [central, other] }
        #expect(assembler.next()?.text == "anew")
        assembler.append(Array("y\n".utf8), from: other) { [central, other] }
        #expect(assembler.next()?.text == "xy")
    }

    @Test func replacesWhatIsNoText() {
        var assembler = UARTLineAssembler(limit: 100)
        assembler.append([0x61, 0xFF, 0x0A], from: central) { [] }
        #expect(assembler.next()?.text == "a\u{FFFD}")
    }
}
