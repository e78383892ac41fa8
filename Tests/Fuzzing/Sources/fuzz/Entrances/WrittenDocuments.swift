@testable import PeripheralCore
@testable import PeripheralKit
@testable import PeripheralNordicUART

extension Entrance {
    /// Documents and lines that centrals write in chunks, and documents that are sent in chunks.
    static let writtenDocuments = Entrance(name: "written-documents") { bytes in
        var feed = Feed(bytes)
        switch feed.byte() % 3 {
        case 0: assemble(&feed)
        case 1: cut(&feed)
        default: lines(&feed)
        }
    }

    private static func central(_ number: UInt8) -> Central {
        guard let address = DeviceAddress(rawValue: UInt64(number % 4)) else {
            fatalError("addresses have 48 bits")
        }
        return Central(address: address)
    }

    /// What a central writes is put together, whatever others write, and is never longer than the limit.
    private static func assemble(_ feed: inout Feed) {
        let limit = Int(feed.byte())
        let marker = feed.bytes()
        var assembly = DocumentAssembly(until: marker, maximumSize: limit)
        // By the central, of the connection that counts.
        var expected: [UInt8: (connection: UInt64, bytes: [UInt8], isComplete: Bool)] = [:]
        while !feed.isAtEnd {
            let (number, kind) = (feed.byte() % 4, feed.byte())
            let write = WriteBuffer.Write(
                value: kind & 1 == 1 ? marker : feed.bytes(),
                central: central(number),
                connection: UInt64(kind >> 4),
                followsLoss: kind & 2 == 2,
                isLost: kind & 4 == 4
            )
            let document = assembly.take(write) { _, _ in true }
            if expected[number]?.connection != write.connection {
                expected[number] = (write.connection, [], true)
            }
            if write.followsLoss || write.isLost { expected[number]?.isComplete = false }
            let isEnd = !write.isLost && write.value == marker
            check((document != nil) == isEnd)
            if let document, let part = expected.removeValue(forKey: number) {
                check(document.bytes == Array(part.bytes.prefix(limit)))
                check(document.isComplete == (part.isComplete && part.bytes.count <= limit))
                check(document.central == central(number))
                if document.isComplete { plantedFault(document.bytes, count: 6) }
            } else if !write.isLost {
                expected[number]?.bytes += write.value
            }
        }
    }

    /// The chunks of a document are the document, and none is like the mark.
    private static func cut(_ feed: inout Feed) {
        let marker = feed.flag() ? [1, 2] + feed.bytes().prefix(14) : nil
        let size = 20 + Int(feed.byte())
        let limit = 20 + Int(feed.byte())
        let beginsWithMarker = feed.flag()
        let isConfirmed = feed.flag()
        let bytes = feed.remaining()
        var cursor = ChunkCursor(
            Document(bytes: bytes, chunkSize: size, endMarker: marker, isConfirmed: isConfirmed),
            beginsWithMarker: beginsWithMarker
        )
        check(cursor.isConfirmed == isConfirmed && cursor.hasMarker == (marker != nil) && !cursor.hasBegun)
        var (sent, marks) = ([] as [UInt8], 0)
        while let chunk = cursor.next(limit: limit) {
            check(chunk.value.count <= limit)
            check(!chunk.value.isEmpty)
            if chunk.value == marker { marks += 1 } else { sent += chunk.value }
            check(chunk.value == marker || chunk.size == chunk.value.count)
            if var rest = cursor.cutShort {
                while let end = rest.next(limit: limit) { check(end.value == marker) }
            }
        }
        check(cursor.isAtEnd && cursor.hasBegun)
        check(sent == bytes)
        check(marks == (marker == nil ? 0 : beginsWithMarker ? 2 : 1))
    }

    /// The bytes of lines are those that were written, without the ends of lines.
    private static func lines(_ feed: inout Feed) {
        let limit = 1 + Int(feed.byte() % 32)
        var assembler = UARTLineAssembler(limit: limit)
        while !feed.isAtEnd {
            let present = feed.byte()
            let (writer, bytes) = (central(feed.byte()), feed.bytes())
            assembler.append(bytes, from: writer) {
                (0..<4).filter { present >> $0 & 1 == 1 }.map(central) + [writer]
            }
            var count = 0
            while let line = assembler.next() {
                count += 1
                check(line.bytes.count <= limit && line.central == writer)
                check(!line.bytes.contains(0x0A) && !line.bytes.contains(0x0D))
                check(line.text.unicodeScalars.count <= line.bytes.count)
            }
            check(count <= bytes.count)
        }
    }
}
